//! Ascent on the bound: parameters without constraints, Adam, natural gradients, learning rates, regularisers.
//!
//! Adam moves every parameter except q(u_g), which takes natural-gradient steps of its own when asked to.

mod adam;
mod bfgs;
mod natural;
mod regularise;
mod schedule;
mod unconstrained;

pub use adam::Adam;
pub(crate) use bfgs::{Ascent, Point, Surface};
pub use natural::{natural_step, natural_step_or_shorter};
pub use regularise::{LogNormal, Regularisation};
pub use schedule::Schedule;
pub use unconstrained::{Group, chain_rule, groups, overwrite, pack, slopes, unpack};
