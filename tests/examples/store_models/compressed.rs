//! Compressed forms of the stored models: tensors of sixteen and of eight bits, and models for integer arithmetic.

use std::error::Error;
use std::fs;

use diffgp_infer::Model;
use diffgp_train::aligned::AlignedBytes;
use diffgp_train::compress::{Goal, compress, made_up_inputs};
use diffgp_train::threads::Threads;

use crate::stored_models;

/// One model to compress.
pub(crate) struct Smaller {
    pub(crate) name: &'static str,
    from: &'static str,
    goal: Goal,
}

pub(crate) const SMALLER: [Smaller; 12] = [
    // D = 8, M = 100 in 32 KiB: eight bits, and small enough for every board.
    Smaller { name: "v2-kin8nm-32k", from: "v2-kin8nm", goal: within(32 << 10) },
    // Nearly without loss: sixteen bits.
    Smaller { name: "v2-power-close", from: "v2-power", goal: losing(1e-6) },
    // The one in the documentation of the runtime.
    Smaller { name: "../../diffgp-infer/models/power", from: "v2-power", goal: within(6000) },
    Smaller {
        name: "../../diffgp-infer/models/v2-steps-small",
        from: "../../diffgp-infer/models/v2-steps",
        goal: within(1000),
    },
    // For integer arithmetic: a kernel per dimension, a shared one, steps with tables of their own, two classes, three, and
    // two targets.
    Smaller { name: "v2-power-integers", from: "v2-power", goal: INTEGERS },
    Smaller { name: "v2-power-shared-integers", from: "v2-power-shared", goal: INTEGERS },
    Smaller { name: "v2-concrete-temporal-integers", from: "v2-concrete-temporal", goal: INTEGERS },
    Smaller { name: "v2-higgs-integers", from: "v2-higgs", goal: INTEGERS },
    Smaller { name: "v2-iris-integers", from: "../../diffgp-infer/models/v2-iris", goal: INTEGERS },
    Smaller { name: "v2-energy2-integers", from: "../../diffgp-infer/models/v2-energy2", goal: INTEGERS },
    // With Matérn kernels.
    Smaller {
        name: "v2-pendulum-temporal-integers",
        from: "../../diffgp-infer/models/v2-pendulum-temporal",
        goal: INTEGERS,
    },
    // In the same 32 KiB as with tensors of eight bits in f32.
    Smaller { name: "v2-kin8nm-32k-integers", from: "v2-kin8nm", goal: Goal { integers: true, ..within(32 << 10) } },
];

const INTEGERS: Goal =
    Goal { max_bytes: None, max_instructions: None, tolerance: None, integers: true, mean_only: false };

const fn within(bytes: usize) -> Goal {
    Goal { max_bytes: Some(bytes), max_instructions: None, tolerance: None, integers: false, mean_only: false }
}

const fn losing(nats: f64) -> Goal {
    Goal { max_bytes: None, max_instructions: None, tolerance: Some(nats), integers: false, mean_only: false }
}

pub(crate) fn store(smaller: &Smaller) -> Result<(), Box<dyn Error>> {
    let directory = stored_models::directory();
    let original = AlignedBytes::new(&fs::read(directory.join(smaller.from).with_extension("dgp"))?);
    let inputs = made_up_inputs(&Model::parse(original.as_slice())?);
    let work = |model: &Model<'_>| u64::from(model.blob().header().steps) + 1;
    let compressed = compress(original.as_slice(), &inputs, &smaller.goal, &work, &mut |_| (), &Threads::new(0)?)?;
    println!("  {} bytes, {:?}", compressed.bytes.len(), compressed.curve.last());
    let path = directory.join(smaller.name);
    fs::write(path.with_extension("bits"), stored_models::bits(&compressed.bytes))?;
    fs::write(path.with_extension("dgp"), &compressed.bytes)?;
    Ok(())
}
