//! `diffgp keygen`, `sign` and `verify`: what belongs together, and what does not.

use crate::runner::Folder;

/// A folder with a model that needs no training.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("model.dgp", include_bytes!("../../diffgp-slots/models/steps.dgp"));
    folder
}

#[test]
fn a_signed_model_is_verified_and_a_changed_one_is_not() {
    let folder = folder();
    folder.run("keygen pump").succeeds();
    folder.run("keygen other").succeeds();
    folder.run("sign model.dgp --key pump.key --counter 7").succeeds();
    let before = folder.read("model.dgp");
    let outcome = folder.run("verify model.dgp --key pump.pub --json");
    assert_eq!((outcome.code, outcome.stdout.trim()), (0, r#"{"counter":7}"#), "{outcome:?}");
    assert_eq!(folder.read("model.dgp"), before, "the model stays as it is");
    assert_eq!(folder.read("model.dgp.sig").len(), 80);

    assert_eq!(folder.run("verify model.dgp --key other.pub").code, 2);
    assert_eq!(folder.run("verify model.dgp --key pump.key").code, 2, "a secret key is no public one");
    assert_eq!(folder.run("sign model.dgp --key pump.pub --counter 7").code, 2, "a public key is no secret one");
    let block = folder.read("model.dgp.sig");
    for at in [0, 4, 8, 12, 16, 79] {
        let mut changed = block.clone();
        changed[at] ^= 1;
        folder.write("changed.sig", &changed);
        let outcome = folder.run("verify model.dgp --key pump.pub --signature changed.sig");
        assert_eq!(outcome.code, 2, "byte {at}");
    }
    folder.write("short.sig", &block[..79]);
    assert_eq!(folder.run("verify model.dgp --key pump.pub --signature short.sig").code, 2);
}

#[test]
fn keys_are_secret_and_never_overwritten() {
    let folder = folder();
    folder.run("keygen pump").succeeds();
    let (secret, public) = (folder.read("pump.key"), folder.read("pump.pub"));
    let outcome = folder.run("keygen pump");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("never overwritten"), "{}", outcome.stderr);
    assert_eq!((folder.read("pump.key"), folder.read("pump.pub")), (secret.clone(), public));
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let mode = std::fs::metadata(folder.path("pump.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // Nor what a link leads to, even if that is not there.
        symlink(folder.path("elsewhere"), folder.path("linked.key")).unwrap();
        assert_eq!(folder.run("keygen linked").code, 2);
        assert!(!folder.path("elsewhere").exists());
    }
    assert!(!folder.run("keygen pump2").stdout.contains(std::str::from_utf8(&secret).unwrap().trim()));
    assert_eq!(folder.run("sign model.dgp --key pump.key --counter 1 --out pump.key").code, 2);
    assert_eq!(folder.read("pump.key"), secret);
}
