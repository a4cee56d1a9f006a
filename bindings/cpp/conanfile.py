from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout


class Ambrosia(ConanFile):
    """The C++ binding of Ambrosia as a Conan 2 package; it has no dependencies."""

    name = "ambrosia"
    version = "0.1.0"
    license = "MIT"
    settings = "os", "compiler", "build_type", "arch"
    package_type = "static-library"
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "src/*"
    generators = "CMakeToolchain"

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"AMBROSIA_TESTS": "OFF"})
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/Ambrosia"]
