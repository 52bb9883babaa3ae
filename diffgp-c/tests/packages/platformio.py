# Runs the script of the PlatformIO package as its library builder does, for boards of every kind: platformio.py PACKAGE
import json
import os
import sys

package = sys.argv[1]
manifest = json.load(open(os.path.join(package, "library.json")))
for field in ("name", "version", "description", "keywords", "license", "frameworks", "platforms"):
    assert manifest[field], field
assert os.path.exists(os.path.join(package, manifest["build"]["includeDir"], manifest["headers"]))
script = os.path.join(package, manifest["build"]["extraScript"])

HARD = ["-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
SOFTFP = ["-mthumb", "-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16"]
BOARDS = [
    ({"build.cpu": "cortex-m0plus", "build.mcu": "rp2040"}, [], "cortex-m0"),
    ({"build.cpu": "cortex-m3", "build.mcu": "stm32f103c8t6"}, [], "cortex-m3"),
    ({"build.cpu": "cortex-m4", "build.mcu": "nrf52840"}, HARD, "cortex-m4f-hard"),
    ({"build.cpu": "cortex-m4", "build.mcu": "nrf52840"}, SOFTFP, "cortex-m4f-softfp"),
    ({"build.cpu": "cortex-m4", "build.mcu": "stm32f407vgt6"}, [], "cortex-m3"),
    ({"build.cpu": "cortex-m7", "build.mcu": "stm32h743"}, HARD, "cortex-m4f-hard"),
    ({"build.cpu": "cortex-m33", "build.mcu": "nrf5340"}, HARD, "cortex-m33-hard"),
    ({"build.mcu": "esp32c3"}, [], "rv32imc"),
    ({"build.mcu": "esp32c6"}, [], "rv32imac"),
    ({"build.mcu": "esp32s3"}, [], None),
    ({}, [], "x86_64-linux"),
]


class Environment(dict):
    def __init__(self, board, flags):
        super().__init__(CCFLAGS=flags)
        self.board, self.appended = board, {}

    def BoardConfig(self):
        return self.board

    def Append(self, **more):
        self.appended.update(more)


os.chdir(package)
for board, flags, expected in BOARDS:
    env, default = Environment(board, flags), Environment(board, flags)
    names = {"env": env, "Import": lambda name: None, "DefaultEnvironment": lambda: default}
    try:
        exec(compile(open(script).read(), script, "exec"), names)
    except SystemExit:
        assert expected is None, board
        continue
    for environment in (env, default):
        (folder,) = environment.appended["LIBPATH"]
        assert os.path.basename(folder) == expected, (board, folder)
        assert os.path.exists(os.path.join(folder, "libdiffgp.a")), folder
        assert environment.appended["LIBS"] == ["diffgp"]
print("a library for %d boards" % len(BOARDS))
