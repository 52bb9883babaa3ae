//! What a model calls its inputs, targets and classes, and what they are called where it holds no names.

use diffgp_infer::Model;

/// Real targets, or the one column of a class.
pub(crate) fn target_count(model: &Model<'_>) -> usize {
    if model.is_classifier() { 1 } else { model.outputs() }
}

/// Names of the inputs and of the targets, if the model holds them.
pub(crate) fn kept(model: &Model<'_>) -> Option<(Vec<String>, Vec<String>)> {
    let mut inputs: Vec<String> = model.blob().names().map(str::to_owned).collect();
    let targets = inputs.split_off(model.inputs().min(inputs.len()));
    (!inputs.is_empty()).then_some((inputs, targets))
}

/// Every input has a name here.
pub(crate) fn inputs(model: &Model<'_>) -> Vec<String> {
    let numbered = || (0..model.inputs()).map(|index| format!("input {index}")).collect();
    kept(model).map_or_else(numbered, |(inputs, _)| inputs)
}

/// Every target has a name here.
pub(crate) fn targets(model: &Model<'_>) -> Vec<String> {
    kept(model).map_or_else(
        || match target_count(model) {
            1 => vec!["target".to_owned()],
            count => (0..count).map(|index| format!("target {index}")).collect(),
        },
        |(_, targets)| targets,
    )
}

/// Every class has a name here: its number, counted from 0, where the model holds none. Empty for real targets.
pub(crate) fn classes(model: &Model<'_>) -> Vec<String> {
    let names: Vec<String> = model.blob().classes().map(str::to_owned).collect();
    if names.is_empty() { (0..model.classes()).map(|class| class.to_string()).collect() } else { names }
}
