//! The course of a run as `metrics.jsonl` tells it.

use std::path::Path;

use diffgp_train::own_file;
use diffgp_train::train::StageName;
use serde_json::Value;

use crate::failure::mistake;

/// The stages of a run that are shown: those of the first fold.
pub(in crate::plot) struct Course {
    pub(in crate::plot) stages: Vec<Stage>,
}

/// One climb.
pub(in crate::plot) struct Stage {
    pub(in crate::plot) name: String,
    pub(in crate::plot) label: String,
    /// Iterations of the stages before it.
    pub(in crate::plot) begins: f64,
    /// Iteration and bound; iteration and mean log-likelihood of a validation row. Each stage counts from 0.
    pub(in crate::plot) elbo: Vec<(f64, f64)>,
    pub(in crate::plot) validation: Vec<(f64, f64)>,
    /// The best of the latter.
    pub(in crate::plot) best: Option<(f64, f64)>,
}

impl Stage {
    pub(in crate::plot) fn new(name: &str, label: String, begins: f64) -> Self {
        Self { name: name.to_owned(), label, begins, elbo: Vec::new(), validation: Vec::new(), best: None }
    }

    /// Whether it was there only to compare kernels.
    pub(in crate::plot) fn is_candidate(&self) -> bool {
        self.name == StageName::CandidateKernel.id()
    }

    /// Points by the iteration of the run.
    pub(in crate::plot) fn placed<'a>(&'a self, points: &'a [(f64, f64)]) -> impl Iterator<Item = (f64, f64)> + 'a {
        points.iter().map(|&(iteration, value)| (self.begins + iteration, value))
    }
}

impl Course {
    /// `None` if the run has no iterations yet, or was to have none.
    pub(in crate::plot) fn read(metrics: &Path) -> anyhow::Result<Option<Self>> {
        let shown = metrics.display();
        let bytes = own_file::read(metrics)
            .map_err(|error| mistake(format!("{shown}: {error}; expected the run directory of `diffgp train`")))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut course = Self { stages: Vec::new() };
        let (mut stage, mut begins) = (Value::Null, 0.0);
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let value: Value = match serde_json::from_str(line) {
                Ok(value) => value,
                // A run that was killed, or is going on, may end with a part of a line.
                Err(_) if lines.peek().is_none() => break,
                Err(error) => {
                    let number = number + 1;
                    return Err(mistake(format!("{shown}: line {number}: {error}; expected a JSON object")));
                }
            };
            // Further folds are runs of their own.
            if value["fold"] != 0 {
                continue;
            }
            if stage != value["stage"] || course.stages.is_empty() {
                if let Some(before) = course.stages.last().filter(|before| !before.is_candidate()) {
                    begins += before.elbo.last().map_or(0.0, |&(iteration, _)| iteration + 1.0);
                }
                stage = value["stage"].clone();
                let name = value["name"].as_str().unwrap_or_default();
                let label = course.label(name);
                course.stages.push(Stage::new(name, label, begins));
            }
            if let Some(current) = course.stages.last_mut() {
                current.add(&value);
            }
        }
        Ok(course.stages.iter().any(|stage| !stage.elbo.is_empty()).then_some(course))
    }

    /// Stages that looked at validation rows.
    pub(in crate::plot) fn validated(&self) -> impl Iterator<Item = &Stage> {
        self.stages.iter().filter(|stage| !stage.validation.is_empty())
    }

    /// What a stage of this name is for; kernels are numbered.
    fn label(&self, name: &str) -> String {
        let is = |stage: StageName| name == stage.id();
        match () {
            () if is(StageName::CandidateKernel) => {
                format!("kernel {}", 1 + self.stages.iter().filter(|stage| stage.is_candidate()).count())
            }
            () if is(StageName::NoFlow) => "without a flow".to_owned(),
            () if is(StageName::WarmStart) => "before the flow is added".to_owned(),
            () if is(StageName::Flow) => "with a flow".to_owned(),
            () => name.replace('_', " "),
        }
    }
}

impl Stage {
    fn add(&mut self, line: &Value) {
        let iteration = line["iteration"].as_f64().unwrap_or_default();
        if let Some(elbo) = line["elbo"].as_f64() {
            self.elbo.push((iteration, elbo));
        }
        let validation = &line["validation"];
        if let Some(log_likelihood) = validation["log_likelihood"].as_f64() {
            self.validation.push((iteration, log_likelihood));
            if validation["best"] == true {
                self.best = Some((iteration, log_likelihood));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_told_apart_and_other_folds_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let metrics = folder.path().join("metrics.jsonl");
        let line = |stage: usize, name: &str, fold: usize, iteration: usize| {
            let begin = format!("\"stage\":{stage},\"name\":\"{name}\",\"fold\":{fold},\"iteration\":{iteration}");
            format!(
                "{{{begin},\"elbo\":{iteration}}}\n{{{begin},\"validation\":{{\"log_likelihood\":-{iteration},\"best\":{}}}}}\n",
                iteration == 1
            )
        };
        let stages = ["candidate_kernel", "candidate_kernel", "no_flow", "flow"];
        let mut text = String::new();
        for (stage, name) in stages.into_iter().enumerate() {
            (0..3).for_each(|iteration| text += &line(stage, name, 0, iteration));
        }
        text += &line(4, "flow", 1, 0);
        std::fs::write(&metrics, text).unwrap();
        let course = Course::read(&metrics).unwrap().unwrap();
        let labels: Vec<&str> = course.stages.iter().map(|stage| stage.label.as_str()).collect();
        assert_eq!(labels, ["kernel 1", "kernel 2", "without a flow", "with a flow"]);
        let begins: Vec<f64> = course.stages.iter().map(|stage| stage.begins).collect();
        assert_eq!(begins, [0.0, 0.0, 0.0, 3.0]);
        assert!(course.stages.iter().all(|stage| stage.best == Some((1.0, -1.0)) && stage.elbo.len() == 3));
    }
}
