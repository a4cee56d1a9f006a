using Ambrosia;
using Conformance;

return args switch
{
    ["vectors", var file] => Vectors.Print(file),
    ["call", var catalog, var instance, var name] => await Caller.ConverseAsync(catalog, instance, name),
    _ => AmbrosiaApp.Run<Probe>(args),
};
