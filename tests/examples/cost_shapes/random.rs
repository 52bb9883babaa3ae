//! Random shapes: sizes spread evenly on a logarithmic scale over all that the format takes.

use diffgp_infer::{Keyed, Noise};

use super::shape::Shape;

impl Shape {
    /// The most that the format takes of steps and inputs, in few bytes.
    pub(crate) fn hostile() -> Self {
        Self {
            inputs: 64,
            steps: 4096,
            inducing: 1,
            times: 0,
            folded: false,
            shared: true,
            rank: 0,
            kernel: 0,
            fixed: false,
            bits: [32; 3],
            predictor_inducing: 1,
            predictor_rank: 1,
            outputs: 1,
            per_output: false,
            likelihood: 0,
        }
    }

    /// The shape with this number. Kinds of models take turns, so that each has its share.
    pub(crate) fn random(seed: u64, number: u32) -> Self {
        let mut dice = Dice(Keyed::new(seed, number));
        dice.0.begin_path(0);
        let kind = number % 10;
        let flows = kind != 8;
        // Of the smallest models what happens once is the most.
        let tiny = kind == 9;
        let inputs = dice.size(if tiny { 6 } else { 64 });
        let (most_points, most_steps) = match kind {
            // Many steps of few points, few steps of many, and everything between.
            0 => (4, 4096),
            1 => (1024, 4),
            9 => (8, 3),
            _ => (300, 60),
        };
        let times = if kind == 2 { 1 + dice.size(12) } else { 0 };
        let inducing = dice.size(most_points / times.max(1));
        let bits = |dice: &mut Dice| if kind == 4 || dice.one_in(8) { [8, 16][dice.below(2)] } else { 32 };
        let predictor_inducing = dice.size(match kind {
            1 | 8 => 1024,
            9 => 8,
            _ => 200,
        });
        let (outputs, likelihood) = match (kind, dice.below(6)) {
            (5, _) => (3 + dice.below(13), 2),
            (6, _) => (1 + dice.size(15), 0),
            (9, 0..3) | (_, 0) => (1, 1),
            (_, 1) => (3 + dice.below(4), 2),
            _ => (1, 0),
        };
        Self {
            inputs,
            steps: if flows { dice.size(most_steps) } else { 0 },
            inducing: if flows { inducing } else { 0 },
            times: if flows { times } else { 0 },
            folded: kind == 3,
            shared: dice.one_in(2),
            rank: dice.below(inducing * times.max(1) + 1),
            kernel: if dice.one_in(3) { 1 + dice.below(2) as u8 } else { 0 },
            fixed: false,
            bits: [bits(&mut dice), bits(&mut dice), bits(&mut dice)],
            predictor_inducing,
            predictor_rank: dice.below(predictor_inducing.min(100) + 1),
            outputs,
            per_output: dice.one_in(2),
            likelihood,
        }
    }

    /// The shape of a model that is evaluated in integers, as near to this one as there is.
    pub(crate) fn in_integers(self) -> Self {
        let directions = if self.bits[2] == 8 || self.rank % 4 == 3 { 8 } else { 16 };
        let rank = self.rank.min(self.inducing);
        // Time is always folded in.
        Self { fixed: true, times: 0, rank, bits: [16, 16, directions], ..self }
    }
}

/// Uniform numbers from normal ones would be roundabout: the fraction of a large multiple of one is uniform enough.
struct Dice(Keyed);

impl Dice {
    fn uniform(&mut self) -> f64 {
        (f64::from(self.0.normal()) * 1000.0).rem_euclid(1.0)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// 1 to `most`, evenly on a logarithmic scale.
    fn size(&mut self, most: usize) -> usize {
        (((most + 1) as f64).powf(self.uniform()) as usize).clamp(1, most.max(1))
    }
}
