//! Text columns as inputs: categories become numbers 0 and 1, and their words stay in the names of the inputs.
//!
//! A column of three to 16 different words makes an input for each of them, `colour=red`, which is 1 where the cell holds the
//! word. Two words make one input, `switch=off|on`: 0 for the first, 1 for the second. Words are sorted by their text. The
//! names are those of the model file, so that whoever holds the file can read the column, and feed the device.

use std::ops::Range;

use super::Dataset;

/// Different words of a column at most: each is an input, and costs the device work.
pub const MAX_CATEGORIES: usize = 16;

/// Between the name of the column and the word.
const IS: char = '=';
/// Between the words of an input that stands for two.
const OR: char = '|';

/// A text column: its name and its words, in the order of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// What the column is called.
    pub name: String,
    /// Two or more words.
    pub words: Vec<String>,
}

/// What one or several neighbouring inputs of a model are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A column of numbers of that name.
    Number(String),
    /// A text column, or as many columns of numbers as it has inputs, with their names.
    Category(Category),
}

impl Category {
    /// The names of its inputs.
    pub fn inputs(&self) -> Vec<String> {
        match self.is_switch() {
            true => vec![format!("{}{IS}{}", self.name, self.words.join(&OR.to_string()))],
            false => self.words.iter().map(|word| format!("{}{IS}{word}", self.name)).collect(),
        }
    }

    /// How many inputs it has.
    pub fn width(&self) -> usize {
        if self.is_switch() { 1 } else { self.words.len() }
    }

    /// Which of its words it is.
    pub fn find(&self, word: &str) -> Option<usize> {
        self.words.iter().position(|known| known == word)
    }

    /// Appends the values of its inputs for one of its words, or NaN for none.
    pub fn push(&self, word: Option<usize>, values: &mut Vec<f32>) {
        let value = |input: usize| match word {
            None => f32::NAN,
            Some(word) if self.is_switch() => f32::from(u8::from(word == 1)),
            Some(word) => f32::from(u8::from(word == input)),
        };
        values.extend((0..self.width()).map(value));
    }

    /// Two words that one input tells apart, in a way that its name can be read back.
    fn is_switch(&self) -> bool {
        self.words.len() == 2 && !self.words.iter().any(|word| word.contains(OR))
    }
}

impl Field {
    /// What the column is called.
    pub fn name(&self) -> &str {
        match self {
            Self::Number(name) => name,
            Self::Category(category) => &category.name,
        }
    }

    /// How many inputs it makes.
    pub fn width(&self) -> usize {
        match self {
            Self::Number(_) => 1,
            Self::Category(category) => category.width(),
        }
    }
}

/// What the inputs of these names are read from.
pub fn fields(names: &[String]) -> Vec<Field> {
    let column =
        |name: &String| name.split_once(IS).map(|(column, _)| column.to_owned()).filter(|name| !name.is_empty());
    let mut fields = Vec::new();
    for same in names.chunk_by(|a, b| column(a).is_some() && column(a) == column(b)) {
        let words: Vec<&str> = same.iter().filter_map(|name| Some(name.split_once(IS)?.1)).collect();
        let words: Vec<&str> = if let [both] = words.as_slice() { both.split(OR).collect() } else { words };
        let category = column(&same[0])
            .map(|name| Category { name, words: words.iter().map(|&word| word.to_owned()).collect() })
            // Others may have given such names to columns of numbers.
            .filter(|category| words.len() > 1 && category.inputs() == same && !words.contains(&""));
        match category {
            Some(category) => fields.push(Field::Category(category)),
            None => fields.extend(same.iter().map(|name| Field::Number(name.clone()))),
        }
    }
    fields
}

impl Dataset {
    /// The inputs that were made of text columns, each with their places.
    pub fn categories(&self) -> Vec<(Category, Range<usize>)> {
        let mut start = 0;
        let placed = fields(self.names().unwrap_or_default()).into_iter().filter_map(|field| {
            let place = start..start + field.width();
            start = place.end;
            match field {
                Field::Category(category) => Some((category, place)),
                Field::Number(_) => None,
            }
        });
        placed.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(name: &str, words: &[&str]) -> Category {
        Category { name: name.to_owned(), words: words.iter().map(|&word| word.to_owned()).collect() }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_of_inputs_read_back_as_categories() {
        for category in [
            category("colour", &["blue", "green", "red"]),
            category("switch", &["off", "on"]),
            category("income", &["<=50K", ">50K"]),
            category("odd", &["a|b", "c"]),
            category("more", &["a|b", "c=d", "e"]),
        ] {
            assert_eq!(category.inputs().len(), category.width());
            assert_eq!(fields(&category.inputs()), [Field::Category(category.clone())]);
            let between = [names(&["x"]), category.inputs(), names(&["z=1"])].concat();
            let number = |name: &str| Field::Number(name.to_owned());
            assert_eq!(fields(&between), [number("x"), Field::Category(category), number("z=1")]);
        }
        assert_eq!(category("switch", &["off", "on"]).inputs(), ["switch=off|on"]);
    }

    #[test]
    fn other_names_are_numbers() {
        for other in
            [&["a", "b"][..], &["a="], &["=a", "=b", "=c"], &["p=1", "p=2"], &["a=x|y|z"], &["a=|b"], &["a=b", "c=d"]]
        {
            assert!(fields(&names(other)).iter().all(|field| matches!(field, Field::Number(_))), "{other:?}");
        }
    }

    #[test]
    fn words_become_ones_among_zeros() {
        let pushed = |category: &Category, word: Option<usize>| {
            let mut values = Vec::new();
            category.push(word, &mut values);
            values
        };
        let colour = category("colour", &["blue", "green", "red"]);
        assert_eq!(pushed(&colour, colour.find("green")), [0.0, 1.0, 0.0]);
        let switch = category("switch", &["off", "on"]);
        assert_eq!([pushed(&switch, Some(0)), pushed(&switch, Some(1))], [[0.0], [1.0]]);
        assert!(pushed(&colour, None).iter().all(|value| value.is_nan()));
        assert_eq!(colour.find("Red"), None);
    }
}
