//! What is said of the eight sets of the UCI repository, whose dirt is known: repeated rows, and of naval a copied column.

use std::path::PathBuf;

use diffgp_train::data::{Dataset, Header, TargetKind, read_test_rows};
use diffgp_train::dirt::{Finding, look};

use crate::skipped::skipped;

/// The sets, their targets, and what is found: kinds, with the column in doubt or how many rows.
const SETS: [(&str, &str, &[&str]); 8] = [
    ("boston", "medv", &[]),
    ("concrete", "strength", &["duplicates 25", "held-out-twins 5"]),
    ("energy", "heating_load", &[]),
    ("kin8nm", "distance", &[]),
    ("naval", "compressor_decay", &["copy ship_speed", "copy port_torque"]),
    ("power", "energy_output", &["held-out-twins 11"]),
    ("protein", "rmsd", &["duplicates 1711", "held-out-twins 297"]),
    ("wine_red", "quality", &["duplicates 240", "held-out-twins 51"]),
];

#[test]
fn nothing_is_said_that_is_not_so() {
    let root = std::env::var_os("DIFFGP_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    for (name, target, expected) in SETS {
        let directory = root.join("uci").join(name);
        if !directory.exists() {
            skipped(&format!(
                "what is said of {name}: no {} (set DIFFGP_DATA to the folder that holds uci/)",
                directory.display()
            ));
            continue;
        }
        let data = Dataset::read_file(&directory.join("data.csv"), target, Header::Detect, TargetKind::Real).unwrap();
        let held_out = read_test_rows(&directory.join("test_rows.txt"), 0).unwrap();
        let told = |finding: &Finding| match finding {
            Finding::Duplicates { count, .. } | Finding::HeldOutTwins { count, .. } => {
                format!("{} {count}", finding.kind())
            }
            _ => format!("{} {}", finding.kind(), finding.columns()[0].name.as_deref().unwrap_or_default()),
        };
        assert_eq!(look(&data, &held_out).iter().map(told).collect::<Vec<_>>(), expected, "{name}");
    }
}
