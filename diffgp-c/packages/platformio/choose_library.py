# The library for the processor and the calling convention of the project: from the board and the compiler's flags.
import os

Import("env")  # noqa: F821 (PlatformIO's)

board = env.BoardConfig()  # noqa: F821
cpu = board.get("build.cpu", "")
mcu = board.get("build.mcu", "")
flags = " ".join(str(flag) for flag in env.get("CCFLAGS", []) + env.get("BUILD_FLAGS", []))  # noqa: F821


def target():
    if mcu in ("esp32c2", "esp32c3"):
        return "rv32imc"
    if mcu in ("esp32c6", "esp32h2"):
        return "rv32imac"
    if cpu in ("cortex-m0", "cortex-m0plus"):
        return "cortex-m0"
    hard, soft = "float-abi=hard" in flags, "float-abi=softfp" in flags
    if cpu in ("cortex-m4", "cortex-m7") and (hard or soft):
        return "cortex-m4f-hard" if hard else "cortex-m4f-softfp"
    if cpu == "cortex-m33" and hard:
        return "cortex-m33-hard"
    if cpu in ("cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33"):
        return "cortex-m3"
    if board.get("platform", "") == "native" or not (cpu or mcu):
        return "x86_64-linux"
    raise SystemExit("diffgp has no library for %s" % (cpu or mcu))


folder = os.path.join(os.getcwd(), "lib", target())
for environment in (env, DefaultEnvironment()):  # noqa: F821
    environment.Append(LIBPATH=[folder], LIBS=["diffgp"])
