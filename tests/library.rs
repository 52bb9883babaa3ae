//! The trainer as a library: what a notebook or a service would do with it.

use diffgp_infer::{Keyed, Workspace};
use diffgp_train::{Dataset, ExportError, ModelFile, Options, PredictError, Sampling, Threads, Trained, train};

const SAMPLED: Sampling = Sampling::Paths { count: 5, seed: 3 };

fn data() -> Dataset {
    let x: Vec<f64> = (0..80).map(|i| f64::from((i * 37) % 80) / 10.0).collect();
    let y: Vec<f64> = x.chunks_exact(2).map(|x| x[0].sin() + 0.1 * x[1]).collect();
    Dataset::from_named_rows(&x, &y, &["angle", "load"], &["level"]).unwrap()
}

fn trained(data: &Dataset) -> Trained {
    let options = Options {
        flow_time: Some(1.0),
        inducing: Some(6),
        iterations: Some(5),
        threads: Some(1),
        ..Options::default()
    };
    train(data, &options.config(data.rows()).unwrap(), &mut ()).unwrap()
}

#[test]
fn predictions_are_those_of_the_device() {
    let (data, threads) = (data(), Threads::new(1).unwrap());
    let trained = trained(&data);
    let exported = trained.export(&data).unwrap();
    assert_eq!(exported.errors.rows, data.rows());
    let file = ModelFile::new(&exported.bytes).unwrap();
    let model = file.model();
    let rows = [0.5, 1.5, 2.5, 3.5, 40.0, 0.0];
    let drift = trained.predict(&rows, Sampling::Drift, &threads).unwrap();
    let sampled = trained.predict(&rows, SAMPLED, &threads).unwrap();
    assert_eq!(file.predict(&rows, SAMPLED, &threads).unwrap(), sampled);
    let mut workspace = Workspace::<2, 8>::new();
    for (number, x) in rows.chunks_exact(2).enumerate() {
        assert_eq!(drift[number], model.predict(x, &mut workspace).unwrap());
        let mut noise = Keyed::new(3, number as u32);
        assert_eq!(sampled[number], model.predict_sampled(x, 5, &mut noise, &mut workspace).unwrap());
    }
    assert_ne!(drift, sampled, "the flow has noise");
    assert_eq!(drift.iter().map(|prediction| prediction.in_range()).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn rows_that_cannot_be_predicted_are_refused() {
    let (data, threads) = (data(), Threads::new(1).unwrap());
    let trained = trained(&data);
    let refused = |rows: &[f32]| trained.predict(rows, Sampling::Drift, &threads).unwrap_err();
    assert_eq!(refused(&[1.0; 3]), PredictError::Shape { values: 3, inputs: 2 });
    assert_eq!(refused(&[1.0, 2.0, 1.0, f32::NAN]).to_string(), "row 2: input value 1 (from 0) is not a finite number");
    assert_eq!(trained.predict(&[], Sampling::Drift, &threads).unwrap(), []);
    let other = Dataset::new(vec![1.0; 6], vec![1.0; 2], 3).unwrap();
    assert!(matches!(trained.export(&other), Err(ExportError::Metadata { expected: 2, found: 3, .. })));
}

#[test]
fn the_file_holds_the_names_unless_they_are_left_out() {
    let data = data();
    let trained = trained(&data);
    let names = |bytes: &[u8]| {
        let file = ModelFile::new(bytes).unwrap();
        file.model().blob().names().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&trained.export(&data).unwrap().bytes), ["angle", "load", "level"]);
    assert!(names(&trained.export_without_names(&data).unwrap().bytes).is_empty());
}

#[test]
fn a_model_file_may_be_a_copy_of_a_longer_region() {
    let data = data();
    let exported = trained(&data).export(&data).unwrap();
    let mut region = exported.bytes.clone();
    region.extend([0xff; 7]);
    assert_eq!(ModelFile::new(&region).unwrap().bytes(), exported.bytes);
    region[100] ^= 1;
    assert!(ModelFile::new(&region).is_err());
}
