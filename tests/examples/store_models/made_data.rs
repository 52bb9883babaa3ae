//! Small data sets, the same in every run.

use diffgp_infer::{Keyed, Noise};
use diffgp_train::data::Dataset;

/// Standard normals.
fn normals(set: u32) -> impl FnMut() -> f32 {
    let mut noise = Keyed::new(7, set);
    move || noise.normal()
}

fn dataset(rows: impl Iterator<Item = (Vec<f32>, f32)>) -> Dataset {
    let (x, y): (Vec<Vec<f32>>, Vec<f32>) = rows.unzip();
    let inputs = x.first().map_or(0, Vec::len);
    Dataset::new(x.concat(), y, inputs).expect("rows of finite numbers")
}

/// A temperature that jumps: one input.
pub(crate) fn steps() -> Dataset {
    let mut normal = normals(0);
    dataset((0..200).map(|i| {
        let x = i as f32 * 0.02 - 2.0;
        let level = if x < -0.8 {
            18.0
        } else if x < 0.5 {
            24.0
        } else {
            21.0
        };
        (vec![x], level + 0.2 * normal())
    }))
}

/// Inside or outside a ring: two inputs, two classes.
pub(crate) fn ring() -> Dataset {
    let mut normal = normals(1);
    dataset((0..300).map(|_| {
        let (a, b) = (normal(), normal());
        (vec![a, b], f32::from(u8::from(a * a + b * b + 0.1 * normal() < 1.2)))
    }))
}

/// The energy of a pendulum from angle, speed and length: three inputs.
pub(crate) fn pendulum() -> Dataset {
    let mut normal = normals(2);
    dataset((0..300).map(|_| {
        let (angle, speed, length) = (normal(), normal(), 1.0 + 0.1 * normal());
        let energy = 0.5 * (length * speed) * (length * speed) + 9.81 * length * (1.0 - libm::cosf(angle));
        (vec![angle, speed, length], energy + 0.1 * normal())
    }))
}
