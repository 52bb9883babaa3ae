//! Names of columns as names of variables.

/// The names as variables that can be told apart; `x` and the index where a name will not do.
pub(crate) fn identifiers<'a>(names: impl Iterator<Item = &'a str>, taken: &[&str]) -> Vec<String> {
    let mut identifiers: Vec<String> = names.map(identifier).collect();
    let plain = |index: usize| format!("x{index}");
    loop {
        let occurs_once = |name: &String| identifiers.iter().filter(|other| *other == name).count() == 1;
        let will_not_do = |(index, name): (usize, &String)| {
            let refused = name.is_empty() || taken.contains(&name.as_str());
            ((refused || !occurs_once(name)) && *name != plain(index)).then_some(index)
        };
        let renamed: Vec<usize> = identifiers.iter().enumerate().filter_map(will_not_do).collect();
        // A column may have the name that another one was given, so it is looked at again.
        if renamed.is_empty() {
            return identifiers;
        }
        for index in renamed {
            identifiers[index] = plain(index);
        }
    }
}

/// Letters, digits and underscores; nothing if it does not begin with a letter.
pub(crate) fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name.chars().map(plain).collect(),
        _ => String::new(),
    }
}
