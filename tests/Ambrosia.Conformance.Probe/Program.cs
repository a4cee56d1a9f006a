using Ambrosia;
using Conformance;

return args is ["vectors", var file] ? Vectors.Print(file) : AmbrosiaApp.Run<Probe>(args);
