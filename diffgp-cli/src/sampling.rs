//! `--paths`, `--deterministic` and `--seed` of the commands that predict.

use diffgp_train::evaluate::Sampling;

/// How the flow is followed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SamplingArgs {
    /// Sample paths per row.
    #[arg(long, value_name = "S", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    paths: u32,
    /// Follow the drift alone, without noise: one path, as `Model::predict` does on the device.
    #[arg(long, conflicts_with = "paths")]
    deterministic: bool,
    /// Decides the paths; noise is keyed by seed, row and path.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl SamplingArgs {
    pub(crate) fn sampling(self) -> Sampling {
        if self.deterministic { Sampling::Drift } else { Sampling::Paths { count: self.paths, seed: self.seed } }
    }
}
