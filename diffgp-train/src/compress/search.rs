//! The best choice for a goal, by greedy steps.
//!
//! A move changes one thing a little: fewer steps, fewer points, fewer bits, fewer directions. The move that saves most
//! for what it loses is made, again and again. Savings are logarithmic, so a tenth of a large file counts as much as a
//! tenth of a small one; what lies below a budget counts nothing. A move that looked bad is not looked at again before
//! the others look as bad: what it saves changes little from one move to the next, and measuring takes the time.

use diffgp_core::blob::layout;
use diffgp_infer::Model;

use super::choice::Choice;
use super::file::About;
use super::loss::Judge;
use super::workshop::Workshop;
use super::{Certificate, CompressError, Goal, Point};
use crate::aligned::AlignedBytes;
use crate::export::Bits;

/// Losses below this are noise: a move is not better for losing even less.
const SMALLEST_LOSS: f64 = 1e-4;
/// What work counts beside bytes without a budget: an integer takes a half or a quarter of the bytes of a single and
/// three times the instructions, and is still wanted.
const WORK: f64 = 0.3;
/// Share of the flow's directions that one move leaves out.
const DIRECTIONS: f64 = 0.1;
/// Share of the points that one move keeps.
const POINTS: f64 = 0.85;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Steps,
    FlowPoints,
    PredictorPoints,
    PointBits,
    WeightBits,
    FlowBits,
    PredictorBits,
    FlowRank,
    PredictorRank,
}

const MOVES: [Move; 9] = [
    Move::FlowBits,
    Move::PredictorBits,
    Move::PointBits,
    Move::WeightBits,
    Move::FlowRank,
    Move::PredictorRank,
    Move::Steps,
    Move::FlowPoints,
    Move::PredictorPoints,
];

/// The points from the original to the end of the search.
pub(super) fn search(
    workshop: &mut Workshop<'_>,
    judge: &mut Judge,
    goal: &Goal,
    instructions: &(dyn Fn(&Model<'_>) -> u64 + Sync),
    report: &mut dyn FnMut(&Point),
) -> Result<Vec<Point>, CompressError> {
    // The certificate comes last.
    let certificate = Certificate::most_bytes(workshop.rows().dimensions);
    let goal = &Goal { max_bytes: goal.max_bytes.map(|bytes| bytes.saturating_sub(certificate)), ..*goal };
    let mut measure = |workshop: &mut Workshop<'_>, choice: Choice| -> Result<Point, CompressError> {
        let bytes = workshop.build(&choice, About::default())?;
        let aligned = AlignedBytes::new(&bytes);
        let work = instructions(&Model::parse(aligned.as_slice())?);
        let loss = judge.loss(workshop, &choice, &bytes)?;
        Ok(Point { choice, bytes: bytes.len(), instructions: work, loss })
    };
    let mut now = measure(workshop, workshop.start(goal.integers))?;
    if !now.loss.is_finite() {
        return Err(CompressError::NoLoss);
    }
    report(&now);
    let mut curve = vec![now.clone()];
    // How good every move looked when it was last measured; those that cannot be made any more are taken out.
    let mut moves: Vec<(Move, f64)> = MOVES.iter().map(|&kind| (kind, f64::INFINITY)).collect();
    while !reached(goal, &now) {
        let Some(next) = best_move(workshop, goal, &now, &mut moves, &mut measure)? else { break };
        if (bytes_beyond(goal, &now) > 0.0) != (bytes_beyond(goal, &next) > 0.0) {
            // From now on other moves are good.
            moves.iter_mut().for_each(|(_, looked)| *looked = f64::INFINITY);
        }
        report(&next);
        curve.push(next.clone());
        now = next;
    }
    let lost_too_much = goal.tolerance.is_some_and(|most| now.loss > most);
    if lost_too_much || (has_budget(goal) && !reached(goal, &now)) {
        return Err(CompressError::OutOfReach { bytes: now.bytes, instructions: now.instructions, loss: now.loss });
    }
    Ok(curve)
}

fn has_budget(goal: &Goal) -> bool {
    goal.max_bytes.is_some() || goal.max_instructions.is_some()
}

/// Whether the budgets are kept; without any there is always more to save, unless integers are all that is wanted.
fn reached(goal: &Goal, point: &Point) -> bool {
    let wanted = has_budget(goal) || (goal.integers && goal.tolerance.is_none());
    wanted && bytes_beyond(goal, point) <= 0.0 && work_beyond(goal, point) <= 0.0
}

/// What a move saves, in logarithms: first of the bytes beyond their budget, then of the work beyond its own, and of
/// both if there is no budget. In this order, because integers save bytes and cost work, which fewer steps save again.
fn saved(goal: &Goal, now: &Point, next: &Point) -> f64 {
    if !has_budget(goal) {
        let cost = |point: &Point| (point.bytes as f64).ln() + WORK * (point.instructions.max(1) as f64).ln();
        return cost(now) - cost(next);
    }
    let bytes = bytes_beyond(goal, now) - bytes_beyond(goal, next);
    if bytes == 0.0 { work_beyond(goal, now) - work_beyond(goal, next) } else { bytes }
}

fn bytes_beyond(goal: &Goal, point: &Point) -> f64 {
    goal.max_bytes.map_or(0.0, |budget| (point.bytes as f64 / budget.max(1) as f64).ln().max(0.0))
}

fn work_beyond(goal: &Goal, point: &Point) -> f64 {
    goal.max_instructions.map_or(0.0, |budget| (point.instructions as f64 / budget.max(1) as f64).ln().max(0.0))
}

type Measure<'m> = dyn FnMut(&mut Workshop<'_>, Choice) -> Result<Point, CompressError> + 'm;

/// The move that saves most for its loss.
fn best_move(
    workshop: &mut Workshop<'_>,
    goal: &Goal,
    now: &Point,
    moves: &mut Vec<(Move, f64)>,
    measure: &mut Measure<'_>,
) -> Result<Option<Point>, CompressError> {
    let mut best: Option<(f64, Point)> = None;
    moves.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut index = 0;
    while index < moves.len() {
        let (kind, looked) = moves[index];
        if best.as_ref().is_some_and(|(worth, _)| *worth >= looked) {
            break;
        }
        let Some(choice) = apply(workshop, &now.choice, kind)? else {
            moves.remove(index);
            continue;
        };
        let next = match measure(workshop, choice) {
            Ok(next) if next.loss.is_finite() => next,
            // Such a model cannot be stored, or cannot predict the rows.
            Ok(_) | Err(CompressError::Refused(_) | CompressError::Row(_) | CompressError::Flow(_)) => {
                moves.remove(index);
                continue;
            }
            Err(error) => return Err(error),
        };
        let saved = saved(goal, now, &next);
        if goal.tolerance.is_some_and(|most| next.loss > most) {
            moves.remove(index);
            continue;
        }
        let worth = if saved > 0.0 { saved / (next.loss - now.loss).max(SMALLEST_LOSS) } else { 0.0 };
        moves[index].1 = worth;
        index += 1;
        if worth > 0.0 && best.as_ref().is_none_or(|(most, _)| worth > *most) {
            best = Some((worth, next));
        }
    }
    Ok(best.map(|(_, point)| point))
}

/// A choice one move further; `None` at the end.
fn apply(workshop: &mut Workshop<'_>, choice: &Choice, kind: Move) -> Result<Option<Choice>, CompressError> {
    let mut next = choice.clone();
    let fewer = |points: usize| {
        let fewer = (points as f64 * POINTS) as usize;
        (fewer >= 4).then_some(fewer)
    };
    let changed = match kind {
        Move::Steps => match workshop.fewer_steps(choice.steps) {
            Some(steps) => {
                next = workshop.cut_tables(choice, steps);
                true
            }
            None => false,
        },
        Move::FlowPoints => match fewer(choice.flow_points) {
            Some(points) => {
                next.flow_points = points;
                next.flow_ranks.iter_mut().flatten().for_each(|rank| *rank = (*rank).min(points));
                true
            }
            None => false,
        },
        Move::PredictorPoints => match fewer(choice.predictor_points) {
            Some(points) => {
                next.predictor_points = points;
                next.predictor_rank = next.predictor_rank.min(points);
                true
            }
            None => false,
        },
        // Integers have points of 16 bits and weights of 32, whatever else is chosen.
        Move::PointBits => !choice.fixed && coarser(&mut next.point_bits),
        Move::WeightBits => !choice.fixed && coarser(&mut next.weight_bits),
        Move::FlowBits => choice.flow_ranks.iter().flatten().any(|&rank| rank > 0) && coarser(&mut next.flow_bits),
        Move::PredictorBits => choice.predictor_rank > 0 && coarser(&mut next.predictor_bits),
        Move::FlowRank => cut_flow(workshop, &mut next)?,
        Move::PredictorRank => {
            let kept = blocks(next.predictor_rank).saturating_sub(1) * layout::BLOCK;
            let changed = kept < next.predictor_rank;
            next.predictor_rank = kept;
            changed
        }
    };
    Ok(changed.then_some(next))
}

fn coarser(bits: &mut Bits) -> bool {
    match *bits {
        Bits::ThirtyTwo => *bits = Bits::Sixteen,
        Bits::Sixteen => *bits = Bits::Eight,
        Bits::Eight => return false,
    }
    true
}

fn blocks(rank: usize) -> usize {
    rank.div_ceil(layout::BLOCK)
}

/// Leaves out the blocks of directions that matter least, over all outputs of the flow.
fn cut_flow(workshop: &mut Workshop<'_>, choice: &mut Choice) -> Result<bool, CompressError> {
    let mut scores = Vec::new();
    for kernel in 0..choice.flow_ranks.len() {
        scores.push(workshop.blocks(choice, kernel)?);
    }
    let mut kept: Vec<(f64, usize, usize)> = Vec::new();
    for (kernel, ranks) in choice.flow_ranks.iter().enumerate() {
        for (index, &rank) in ranks.iter().enumerate() {
            let scores = &scores[kernel][index];
            kept.extend(scores.iter().take(blocks(rank)).map(|&score| (score, kernel, index)));
        }
    }
    kept.sort_by(|a, b| a.0.total_cmp(&b.0));
    let cut = ((kept.len() as f64 * DIRECTIONS).ceil() as usize).min(kept.len());
    for &(_, kernel, index) in &kept[..cut] {
        let rank = &mut choice.flow_ranks[kernel][index];
        *rank = (blocks(*rank) - 1) * layout::BLOCK;
    }
    Ok(cut > 0)
}
