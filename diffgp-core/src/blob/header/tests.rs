use super::*;

/// A flow with two inputs and a shared kernel, one real target.
const VALID: Header<'static> = Header {
    inputs: 2,
    outputs: 1,
    likelihood: LIKELIHOOD_GAUSSIAN,
    arithmetic: 0,
    scheme: 0,
    calibration: 0,
    epsilon: 0.0,
    variance_floor: 0.0,
    flow_time: 1.0,
    steps: 4,
    flow_kernels: 1,
    flow_inducing: 5,
    inducing_times: 0,
    tables: 1,
    predictor_kernels: 1,
    predictor_inducing: 6,
    block: layout::BLOCK as u8,
    mean_error: 0.0,
    variance_error: 0.0,
    checked_rows: 0,
    discretisation_error: 0.0,
    discretisation_rows: 0,
    model_id: &[],
    names: &[],
    classes: &[],
    units: &[],
    certificate: &[],
};

fn refused(change: impl Fn(&mut Header<'static>)) -> Option<Field> {
    let mut header = VALID;
    change(&mut header);
    match header.validate() {
        Ok(()) => None,
        Err(ParseError::Field(field)) => Some(field),
        Err(other) => panic!("{other}"),
    }
}

/// The first range "a to b" in the text that describes a field's limits.
fn described_range(field: Field) -> (f64, f64) {
    let text = field.description().limits;
    let (before, after) = text.split_once(" to ").expect("a range");
    let number = |word: Option<&str>| word.unwrap().trim_end_matches(';').parse().unwrap();
    (number(before.split(' ').next_back()), number(after.split(' ').next()))
}

#[test]
fn described_ranges_are_those_that_are_checked() {
    type Set = fn(&mut Header<'static>, f64);
    let ranges: [(Field, Set); 8] = [
        (Field::Inputs, |h, value| h.inputs = value as u8),
        (Field::Outputs, |h, value| h.outputs = value as u8),
        (Field::Epsilon, |h, value| (h.likelihood, h.epsilon) = (LIKELIHOOD_BERNOULLI, value as f32)),
        (Field::VarianceFloor, |h, value| h.variance_floor = value as f32),
        (Field::FlowTime, |h, value| h.flow_time = value as f32),
        (Field::Steps, |h, value| h.steps = value as u16),
        (Field::FlowInducing, |h, value| h.flow_inducing = value as u16),
        (Field::PredictorInducing, |h, value| h.predictor_inducing = value as u16),
    ];
    for (field, set) in ranges {
        let (low, high) = described_range(field);
        for inside in [low, high] {
            assert_eq!(refused(|header| set(header, inside)), None, "{field:?} {inside}");
        }
        let whole = low == 1.0;
        let below = if whole { low - 1.0 } else { low - 1e-7 - 0.01 * low };
        let above = if whole { high + 1.0 } else { 1.01 * high };
        for outside in [below, above] {
            assert_eq!(refused(|header| set(header, outside)), Some(field), "{field:?} {outside}");
        }
    }
}

#[test]
fn reserved_numbers_are_refused_by_their_field() {
    assert_eq!(refused(|header| header.likelihood = 3), Some(Field::Likelihood));
    assert_eq!(refused(|header| header.arithmetic = 2), Some(Field::Arithmetic));
    assert_eq!(refused(|header| header.scheme = 2), Some(Field::Scheme));
    assert_eq!(refused(|header| header.calibration = 2), Some(Field::Calibration));
    assert_eq!(refused(|header| header.block = 4), Some(Field::Block));
}

#[test]
fn time_features_are_not_evaluated_in_integers() {
    assert_eq!(refused(|header| header.arithmetic = ARITHMETIC_FIXED), None);
    let both = |header: &mut Header<'_>| (header.arithmetic, header.inducing_times) = (ARITHMETIC_FIXED, 2);
    assert_eq!(refused(both), Some(Field::Arithmetic));
}

#[test]
fn outputs_follow_the_likelihood() {
    let outputs =
        |likelihood, outputs| refused(move |header| (header.likelihood, header.outputs) = (likelihood, outputs));
    for valid in
        [(LIKELIHOOD_GAUSSIAN, 2), (LIKELIHOOD_BERNOULLI, 1), (LIKELIHOOD_SOFTMAX, 3), (LIKELIHOOD_SOFTMAX, 32)]
    {
        assert_eq!(outputs(valid.0, valid.1), None, "{valid:?}");
    }
    for invalid in
        [(LIKELIHOOD_BERNOULLI, 2), (LIKELIHOOD_SOFTMAX, 1), (LIKELIHOOD_SOFTMAX, 2), (LIKELIHOOD_SOFTMAX, 33)]
    {
        assert_eq!(outputs(invalid.0, invalid.1), Some(Field::Outputs), "{invalid:?}");
    }
    let kernels =
        |outputs, kernels| refused(move |header| (header.outputs, header.predictor_kernels) = (outputs, kernels));
    assert_eq!((kernels(3, 1), kernels(3, 3)), (None, None));
    assert_eq!((kernels(3, 2), kernels(3, 0)), (Some(Field::PredictorKernels), Some(Field::PredictorKernels)));
    assert_eq!(refused(|header| header.epsilon = 1e-3), Some(Field::Epsilon));
}

#[test]
fn time_features_stand_beside_one_table_alone() {
    let times = |inducing_times, tables| {
        refused(move |header| (header.inducing_times, header.tables) = (inducing_times, tables))
    };
    for valid in [(0, 1), (0, 4), (3, 1)] {
        assert_eq!(times(valid.0, valid.1), None);
    }
    assert_eq!(times(3, 4), Some(Field::InducingTimes));
    assert_eq!(times(205, 1), Some(Field::InducingTimes));
    assert_eq!(times(0, 3), Some(Field::Tables));
}

#[test]
fn a_model_without_a_flow_has_no_part_of_one() {
    let without = |header: &mut Header<'static>| {
        (header.flow_time, header.steps, header.flow_kernels, header.flow_inducing, header.tables) = (0.0, 0, 0, 0, 0);
    };
    assert_eq!(refused(without), None);
    type Set = fn(&mut Header<'static>);
    let parts: [(Field, Set); 6] = [
        (Field::Steps, |h| h.steps = 1),
        (Field::FlowKernels, |h| h.flow_kernels = 1),
        (Field::FlowInducing, |h| h.flow_inducing = 1),
        (Field::InducingTimes, |h| h.inducing_times = 1),
        (Field::Tables, |h| h.tables = 1),
        (Field::DiscretisationRows, |h| h.discretisation_rows = 1),
    ];
    for (field, set) in parts {
        let found = refused(|header| {
            without(header);
            set(header);
        });
        assert_eq!(found, Some(field));
    }
}

#[test]
fn errors_that_were_not_measured_are_zero() {
    assert_eq!(refused(|header| header.mean_error = f32::NAN), Some(Field::MeanError));
    assert_eq!(refused(|header| header.variance_error = -1.0), Some(Field::VarianceError));
    assert_eq!(refused(|header| header.discretisation_error = 0.1), Some(Field::DiscretisationError));
    assert_eq!(refused(|header| (header.discretisation_error, header.discretisation_rows) = (0.1, 10)), None);
}

#[test]
fn names_classes_and_units_are_counted() {
    assert_eq!(refused(|header| header.names = b"\x01a\x01b\x01y"), None);
    assert_eq!(refused(|header| header.names = b"\x01a\x01b"), Some(Field::Names));
    assert_eq!(refused(|header| header.units = b"\x01K\x00\x02kW"), None);
    assert_eq!(refused(|header| header.units = b"\x01K"), Some(Field::Units));
    assert_eq!(refused(|header| header.classes = b"\x01a\x01b"), Some(Field::Classes));
    let classes = |likelihood, outputs, classes: &'static [u8]| {
        refused(move |header| (header.likelihood, header.outputs, header.classes) = (likelihood, outputs, classes))
    };
    assert_eq!(classes(LIKELIHOOD_BERNOULLI, 1, b"\x02no\x03yes"), None);
    assert_eq!(classes(LIKELIHOOD_SOFTMAX, 3, b"\x01a\x01b\x01c"), None);
    assert_eq!(classes(LIKELIHOOD_SOFTMAX, 3, b"\x01a\x01b"), Some(Field::Classes));
    assert_eq!(refused(|header| header.model_id = &[7; 33]), Some(Field::ModelId));
}

#[test]
fn every_field_has_a_number_of_its_own() {
    for (index, field) in Field::ALL.iter().enumerate() {
        let number: usize = field.description().number.strip_prefix('H').unwrap().parse().unwrap();
        assert_eq!(number, index + 1);
    }
}
