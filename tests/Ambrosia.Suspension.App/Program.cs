// Runs the handlers of a compiled immortal, stops each after every result, and writes the images, or restores what another
// process wrote; or serves one as an app of a coordinator.
using System.Reflection;
using Ambrosia;
using Ambrosia.Suspension.App;

if (args is ["run", var served, var name])
{
    Console.WriteLine($"app {Environment.ProcessId}");
    Type serves = Assembly.LoadFrom(Path.GetFullPath(served)).GetType(name, throwOnError: true)!;
    return (int)typeof(AmbrosiaApp).GetMethod(nameof(AmbrosiaApp.Run), genericParameterCount: 1, [typeof(string[])])!
        .MakeGenericMethod(serves).Invoke(null, [Array.Empty<string>()])!;
}
if (args is not [var verb, var assembly, var type, var directory])
{
    Console.Error.WriteLine("usage: Ambrosia.Suspension.App write|read|keep ASSEMBLY TYPE DIRECTORY, or run ASSEMBLY TYPE");
    return 2;
}
Type immortal = Assembly.LoadFrom(Path.GetFullPath(assembly)).GetType(type, throwOnError: true)!;
var definition = (ImmortalDefinition)typeof(ImmortalDefinition).GetMethod(nameof(ImmortalDefinition.Of))!.MakeGenericMethod(immortal)
    .Invoke(null, null)!;
if (verb == "write") new ShapeWriter(definition, directory).WriteAll();
else new ShapeReader(definition, directory).ReadAll(keepsBodies: verb == "keep");
return 0;
