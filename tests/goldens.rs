//! Golden cases: parameters, inputs, noise, every intermediate value, the bound and its gradient, in float64, computed
//! by an implementation that shares no code with this project.
//!
//! One JSON file per case in `tests/goldens/`, or in the directory that `DIFFGP_GOLDENS` names. Arrays are nested
//! lists, row-major; here they are flat, in the same order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use diffgp_core::kernel::KernelKind;
use diffgp_core::scheme::Scheme;
use diffgp_train::gradient::Gradient;
use diffgp_train::params::{Flow, Kernel, Likelihood, Params, Posterior, Process, Temporal};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

/// One golden case.
#[derive(Clone, Debug)]
pub(crate) struct Golden {
    /// The file's stem.
    pub(crate) name: String,
    /// The model.
    pub(crate) params: Params,
    /// Inputs: `[B, D]`.
    pub(crate) x: Vec<f64>,
    /// Targets: `[B]`.
    pub(crate) y: Vec<f64>,
    /// Noise: `[S, K, B, D]`, empty without a flow.
    pub(crate) eps: Vec<f64>,
    /// S.
    pub(crate) paths: usize,
    /// N.
    pub(crate) total_rows: usize,
    /// The deviation by which test metrics are scaled back.
    pub(crate) y_std: f64,
    /// Values and gradient with the noise `eps`.
    pub(crate) sampled: Expected,
    /// Values and gradient of the drift-only flow (S = 1).
    pub(crate) deterministic: Expected,
}

/// What a case should give.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// Every named intermediate value and result, flat (`path`, `drift`, `g_mean`, `elbo`, …).
    pub(crate) results: BTreeMap<String, Vec<f64>>,
    /// ∂elbo/∂(every learned array), flat (`Z_f`, `ls_g`, …).
    pub(crate) gradient: BTreeMap<String, Vec<f64>>,
}

impl Expected {
    /// The named result, flat; panics when the case does not hold it.
    pub(crate) fn result(&self, name: &str) -> &[f64] {
        self.results.get(name).unwrap_or_else(|| panic!("the golden case has no result {name}"))
    }

    /// The named scalar.
    pub(crate) fn scalar(&self, name: &str) -> f64 {
        self.result(name)[0]
    }
}

/// The directory the cases are read from.
pub(crate) fn directory() -> PathBuf {
    match std::env::var_os("DIFFGP_GOLDENS") {
        Some(directory) => directory.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens"),
    }
}

/// Every case of the directory, in the order of their names.
pub(crate) fn all() -> Vec<Golden> {
    let directory = directory();
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a readable directory entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no golden case in {}", directory.display());
    names.iter().map(|name| load(name)).collect()
}

/// The case in `NAME.json`.
pub(crate) fn load(name: &str) -> Golden {
    let path = directory().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let config = &json["config"];
    let arrays =
        |object: &Value| object.as_object().expect("arrays").iter().map(|(k, v)| (k.clone(), flat(v))).collect();
    let expected =
        |section: &Value| Expected { results: arrays(&section["results"]), gradient: arrays(&section["grads"]) };
    Golden {
        name: name.to_owned(),
        params: params(config, &json["params"]),
        x: flat(&json["inputs"]["X"]),
        y: flat(&json["inputs"]["y"]),
        eps: flat(&json["inputs"]["eps"]),
        paths: count(config, "S"),
        total_rows: count(config, "N"),
        y_std: real(config, "y_std"),
        sampled: expected(&json),
        deterministic: expected(&json["deterministic"]),
    }
}

/// The arrays of a gradient under the names that the golden files use.
pub(crate) fn named_arrays(gradient: &Gradient) -> Vec<(&'static str, Vec<f64>)> {
    let rows = |matrix: &DMatrix<f64>| matrix.transpose().as_slice().to_vec();
    let mut arrays = Vec::new();
    if let Some(flow) = &gradient.flow {
        arrays.push(("Z_f", rows(&flow.field.inducing)));
        arrays.push(("m_f", flow.field.posteriors.iter().flat_map(|q| q.mean.iter().copied()).collect()));
        arrays.push(("L_f", flow.field.posteriors.iter().flat_map(|q| rows(&q.factor)).collect()));
        arrays.push(("ls_f", flow.field.kernels.iter().flat_map(|kernel| kernel.length_scales.clone()).collect()));
        arrays.push(("var_f", flow.field.kernels.iter().map(|kernel| kernel.variance).collect()));
        if let Some(temporal) = &flow.temporal {
            arrays.push(("Z_t", temporal.times.clone()));
            arrays.push(("ls_t", vec![temporal.length_scale]));
        }
    }
    let predictor = &gradient.predictor;
    arrays.push(("Z_g", rows(&predictor.inducing)));
    arrays.push(("m_g", predictor.posteriors.iter().flat_map(|q| q.mean.iter().copied()).collect()));
    arrays.push(("L_g", predictor.posteriors.iter().flat_map(|q| rows(&q.factor)).collect()));
    arrays.push(("ls_g", predictor.kernels.iter().flat_map(|kernel| kernel.length_scales.clone()).collect()));
    arrays.push(("var_g", predictor.kernels.iter().map(|kernel| kernel.variance).collect()));
    if !gradient.noise.is_empty() {
        arrays.push(("noise", gradient.noise.clone()));
    }
    arrays
}

/// A model from the arrays of a golden file.
fn params(config: &Value, arrays: &Value) -> Params {
    let (d, mg) = (count(config, "D"), count(config, "Mg"));
    let kernel = |variance, length_scales: &[f64]| Kernel {
        kind: KernelKind::Rbf,
        variance,
        length_scales: length_scales.to_vec(),
    };
    let posterior = |mean: &[f64], factor: &[f64]| Posterior {
        mean: DVector::from_column_slice(mean),
        factor: DMatrix::from_row_slice(mean.len(), mean.len(), factor),
    };
    let flow = (real(config, "T") > 0.0).then(|| {
        let (ms, m) = (count(config, "Ms"), count(config, "M"));
        let (means, factors) = (flat(&arrays["m_f"]), flat(&arrays["L_f"]));
        let (scales, variances) = (flat(&arrays["ls_f"]), flat(&arrays["var_f"]));
        Flow {
            time: real(config, "T"),
            steps: count(config, "steps"),
            scheme: Scheme::EulerMaruyama,
            temporal: (count(config, "Mt") > 0)
                .then(|| Temporal { times: flat(&arrays["Z_t"]), length_scale: real(arrays, "ls_t") }),
            field: Process {
                inducing: DMatrix::from_row_slice(ms, d, &flat(&arrays["Z_f"])),
                kernels: variances.iter().zip(scales.chunks(d)).map(|(&v, l)| kernel(v, l)).collect(),
                posteriors: means.chunks(m).zip(factors.chunks(m * m)).map(|(mean, l)| posterior(mean, l)).collect(),
            },
        }
    });
    let likelihood = match config["likelihood"].as_str() {
        Some("gaussian") => Likelihood::Gaussian { noise: vec![real(arrays, "noise")] },
        Some("bernoulli") => Likelihood::Bernoulli { epsilon: real(config, "probit_eps") },
        other => panic!("unknown likelihood {other:?}"),
    };
    Params {
        flow,
        predictor: Process {
            inducing: DMatrix::from_row_slice(mg, d, &flat(&arrays["Z_g"])),
            kernels: vec![kernel(real(arrays, "var_g"), &flat(&arrays["ls_g"]))],
            posteriors: vec![posterior(&flat(&arrays["m_g"]), &flat(&arrays["L_g"]))],
        },
        likelihood,
        jitter: real(config, "jitter"),
        variance_floor: real(config, "var_floor"),
    }
}

fn count(object: &Value, key: &str) -> usize {
    object[key].as_u64().unwrap_or_else(|| panic!("{key} is not a count")) as usize
}

fn real(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("{key} is not a number"))
}

/// The numbers of nested lists in row-major order; a scalar gives one number.
fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Number(number) => vec![number.as_f64().expect("a finite number")],
        other => panic!("expected numbers, found {other}"),
    }
}

#[test]
fn every_case_has_consistent_shapes() {
    for case in all() {
        let (b, d) = (case.y.len(), case.params.inputs());
        assert_eq!(case.x.len(), b * d, "{}", case.name);
        let steps = case.params.flow.as_ref().map_or(0, |flow| flow.steps);
        assert_eq!(case.eps.len(), case.paths * steps * b * d, "{}", case.name);
        assert_eq!(case.sampled.result("g_mean").len(), case.paths * b, "{}", case.name);
        assert_eq!(case.deterministic.result("g_mean").len(), b, "{}", case.name);
        assert!(case.sampled.scalar("elbo").is_finite() && case.y_std > 0.0 && case.total_rows >= b, "{}", case.name);
    }
}
