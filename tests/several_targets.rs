//! Several targets, and several classes, from end to end in the trainer.

use diffgp_train::data::Dataset;
use diffgp_train::threads::Threads;
use diffgp_train::train::{Task, Trained, Warning, train};

use crate::random_models::Normals;
use crate::training::{Recorder, assert_same_bits, iterate, small_config};

/// Three clouds on a circle, a class each; the fourth name belongs to none.
fn clouds(rows: usize) -> Dataset {
    let noise = Normals::new(4).vector(2 * rows);
    let (mut x, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let angle = (row % 3) as f64 * 2.1;
        x.extend([2.0 * angle.cos() + 0.5 * noise[2 * row], 2.0 * angle.sin() + 0.5 * noise[2 * row + 1]]);
        labels.push(["east", "north", "south"][row % 3]);
    }
    Dataset::from_labels(&x, &labels, 2).unwrap()
}

/// A wave, and another with more noise and in other units, of one input.
fn waves(rows: usize) -> Dataset {
    let noise = Normals::new(5).vector(2 * rows);
    let x: Vec<f64> = (0..rows).map(|row| 6.0 * (row * 7919 % 1009) as f64 / 1009.0).collect();
    let both = |(row, x): (usize, &f64)| [x.sin() + 0.1 * noise[2 * row], 100.0 * (x.cos() + 0.4 * noise[2 * row + 1])];
    let y: Vec<f64> = x.iter().enumerate().flat_map(both).collect();
    Dataset::from_rows_with_outputs(&x, &y, 1, 2).unwrap()
}

fn score(trained: &Trained, data: &Dataset) -> diffgp_train::score::Score {
    trained.score(data, 20, 0, &Threads::new(1).unwrap()).unwrap()
}

#[test]
fn clouds_are_told_apart() {
    let data = clouds(240);
    let mut config = small_config(240, Task::of(&data));
    for (flow_time, per_output) in [(0.0, false), (0.0, true), (1.0, false)] {
        (config.flow.time, config.predictor.per_output) = (flow_time, per_output);
        let trained = train(&data, &config, &mut ()).unwrap();
        let score = score(&trained, &data);
        // Clouds at a distance of seven deviations hardly overlap; equal chances would give −1.1 nats.
        assert!(score.accuracy.unwrap() > 0.98 && score.log_likelihood > -0.25, "{score:?}");
        assert!(score.auc.unwrap() > 0.99 && score.rmse.is_none(), "{score:?}");
        assert_eq!(trained.classes.as_deref().unwrap(), ["east", "north", "south"]);
        config.threads = 2;
        assert_same_bits(&trained, &train(&data, &config, &mut ()).unwrap(), "two threads");
        config.threads = 1;
    }
}

#[test]
fn every_target_has_its_noise() {
    let data = waves(300);
    let mut config = small_config(300, Task::of(&data));
    iterate(&mut config, 50, 400);
    for (flow_time, per_output) in [(0.0, false), (0.0, true), (1.0, false)] {
        (config.flow.time, config.predictor.per_output) = (flow_time, per_output);
        let trained = train(&data, &config, &mut ()).unwrap();
        let noise = trained.params.likelihood.noise();
        let deviation = |output: usize| noise[output].sqrt() * f64::from(trained.scaling.targets[output].scale);
        // Deviations 0.1 and 40 from 300 rows: their own standard error is 4 %. A young flow adds its spread.
        let (found, largest) = ((deviation(0), deviation(1)), if flow_time > 0.0 { 0.25 } else { 0.13 });
        assert!((0.08..largest).contains(&found.0) && (33.0..47.0).contains(&found.1), "{flow_time}: {found:?}");
        assert_eq!(trained.params.predictor.kernels.len(), if per_output { 2 } else { 1 });
    }
}

#[test]
fn many_rows_come_in_batches_and_both_noises_are_fitted() {
    let data = waves(2500);
    let mut config = small_config(2500, Task::Regression);
    (config.flow.time, config.batch, config.candidate.iterations) = (0.0, 100, 10);
    let trained = train(&data, &config, &mut ()).unwrap();
    let noise = trained.params.likelihood.noise();
    let deviation = |output: usize| noise[output].sqrt() * f64::from(trained.scaling.targets[output].scale);
    assert!((0.08..0.13).contains(&deviation(0)) && (35.0..45.0).contains(&deviation(1)), "{noise:?}");
}

#[test]
fn rare_and_missing_classes_are_told() {
    let all = clouds(60);
    // Without every "north" but one: rows 1, 4, 7, ….
    let held_out: Vec<usize> = (0..60).filter(|row| row % 3 == 1 && *row > 1).collect();
    let (rare, _) = all.clone().hold_out(&held_out).unwrap();
    let config = small_config(rare.rows(), Task::Classification);
    let mut recorder = Recorder::default();
    train(&rare, &config, &mut recorder).unwrap();
    assert!(recorder.warnings.contains(&Warning::RareClass { class: "north".to_owned(), rows: 1 }));

    let north: Vec<usize> = (0..60).filter(|row| row % 3 == 1).collect();
    let (missing, test) = all.clone().hold_out(&north).unwrap();
    let mut recorder = Recorder::default();
    let trained = train(&missing, &config, &mut recorder).unwrap();
    assert!(recorder.warnings.contains(&Warning::RareClass { class: "north".to_owned(), rows: 0 }));
    let text = Warning::RareClass { class: "north".to_owned(), rows: 0 }.to_string();
    assert!(text.contains("no training row is of class \"north\""), "{text}");
    let score = score(&trained, &test);
    assert!(score.log_likelihood.is_finite() && score.accuracy == Some(0.0), "{score:?}");

    let (_, alone) = all.clone().hold_out(&(0..60).step_by(3).collect::<Vec<_>>()).unwrap();
    let mut recorder = Recorder::default();
    train(&alone, &config, &mut recorder).unwrap();
    assert!(recorder.warnings.iter().any(|warning| matches!(warning, Warning::ConstantTarget { .. })));
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let refused =
        |data: &Dataset, task| train(data, &small_config(data.rows(), task), &mut ()).unwrap_err().to_string();
    assert_eq!(refused(&waves(40), Task::Classification), "2 targets; a classification has one");
    let many = Dataset::with_outputs(vec![0.0; 40], vec![1.0; 40 * 33], 1, 33).unwrap();
    assert_eq!(refused(&many, Task::Regression), "33 targets; expected at most 32");
}
