using System.Collections.Concurrent;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Runtime.InteropServices.Marshalling;

namespace Ambrosia.EndToEnd.Tests.Debugger;

/// <summary>
/// A small debugger, which does with a .NET process what those of IDEs do, by the runtime's own library: it attaches, hears of breaks,
/// names the methods on the stack, steps, and shows its user's code alone. One thread uses it. It goes with the process.
/// </summary>
internal sealed unsafe class AppDebugger
{
    private const string LibraryName = "libmscordbi.so", RuntimeName = "libcoreclr.so";
    private const int NewestVersion = 4, NameCharsMax = 4_096;

    /// <summary>Steps pass over what the runtime puts between: static constructors and checks.</summary>
    private const uint InterceptAllButClassInitAndSecurity = 0xFFFF & ~(0x1u | 0x4u);

    private static readonly ConcurrentDictionary<string, nint> s_libraries = new();

    private readonly BlockingCollection<(StopKind Kind, ICorDebugThread? Thread)> _stops = [];
    private readonly ConcurrentDictionary<string, (AssemblyFile File, ICorDebugModule Module)> _modules = new();

    /// <summary>The library holds these as long as the process is there.</summary>
    private readonly DebuggerCallbacks _callbacks;
    private readonly ICorDebugProcess _process;
    private readonly TimeSpan _patience;

    /// <summary>The thread that has stopped; null: the process runs.</summary>
    private ICorDebugThread? _stopped;

    /// <summary>Attaches to a process.</summary>
    /// <param name="patience">For a stop.</param>
    public AppDebugger(int process, TimeSpan patience)
    {
        _patience = patience;
        (nint runtime, string folder) = RuntimeOf(process);
        nint library = s_libraries.GetOrAdd(Path.Combine(folder, LibraryName), Load), made;
        Marshal.ThrowExceptionForHR(((delegate* unmanaged<int, uint, char*, char*, nint, nint*, int>)NativeLibrary.GetExport(
            library, "CoreCLRCreateCordbObject3"))(NewestVersion, (uint)process, null, null, runtime, &made));
        ICorDebug debug = ComInterfaceMarshaller<ICorDebug>.ConvertToManaged((void*)made)!;
        debug.Initialize();
        _callbacks = new DebuggerCallbacks(ModuleLoaded, Stopped);
        debug.SetManagedHandler(_callbacks);
        debug.DebugActiveProcess((uint)process, 0, out _process);
    }

    private static nint Load(string path)
    {
        nint library = NativeLibrary.Load(path);
        // The system's loader of Windows calls this; here it is for whoever loads the library.
        ((delegate* unmanaged<nint, uint, nint, int>)NativeLibrary.GetExport(library, "DllMain"))(library, 1, 0);
        return library;
    }

    /// <summary>Says why nobody can debug here with what the runtime brings; null: one can.</summary>
    public static string? WhyNot()
    {
        if (!OperatingSystem.IsLinux()) return "the debugger of the tests knows Linux alone";
        string library = Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), LibraryName);
        return File.Exists(library) ? null : $"the runtime has no {library}";
    }

    /// <summary>Where the runtime is in the memory of a process, and the folder of its files.</summary>
    private static (nint Base, string Folder) RuntimeOf(int process)
    {
        string line = File.ReadLines($"/proc/{process}/maps").First(static each => each.EndsWith($"/{RuntimeName}", StringComparison.Ordinal));
        return (nint.Parse(line.AsSpan(0, line.IndexOf('-')), NumberStyles.HexNumber), Path.GetDirectoryName(line[line.IndexOf('/')..])!);
    }

    /// <summary>Waits until the process stops, and returns the methods on the stack that has stopped, the innermost first.</summary>
    public string[] Await(StopKind kind)
    {
        if (!_stops.TryTake(out (StopKind Kind, ICorDebugThread? Thread) stop, _patience)) throw new TimeoutException($"no {kind}");
        _stopped = stop.Thread;
        string[] stack = [.. Frames().Select(NameOf)];
        Assert.True(stop.Kind == kind, $"{stop.Kind} instead of {kind}: {string.Join(" < ", stack)}");
        return stack;
    }

    /// <summary>Goes on.</summary>
    public void GoOn()
    {
        _stopped = null;
        Marshal.ThrowExceptionForHR(_process.Continue(0));
    }

    /// <summary>Goes on to the next of the user's code, also where a call leads to it.</summary>
    public void StepInto()
    {
        _stopped!.CreateStepper(out ICorDebugStepper stepper);
        stepper.SetInterceptMask(InterceptAllButClassInitAndSecurity);
        stepper.SetUnmappedStopMask(0);
        ((ICorDebugStepper2)stepper).SetJmc(1);
        stepper.Step(1);
        GoOn();
    }

    /// <summary>Stops from now on wherever a method begins, which is named behind its type.</summary>
    public void BreakIn(string method)
    {
        foreach ((AssemblyFile file, ICorDebugModule module) in _modules.Values)
        {
            if (file.TokenOf(method) is not { } token) continue;
            module.GetFunctionFromToken(token, out ICorDebugFunction function);
            function.CreateBreakpoint(out nint _);
            return;
        }
        throw new InvalidOperationException($"there is no method {method}");
    }

    /// <summary>An argument of the method that has stopped; 0 is the object itself.</summary>
    public int Argument(uint index)
    {
        ((ICorDebugILFrame)Frames()[0]).GetArgument(index, out ICorDebugValue value);
        int number;
        ((ICorDebugGenericValue)value).GetValue((nint)(&number));
        return number;
    }

    private List<ICorDebugFrame> Frames()
    {
        var frames = new List<ICorDebugFrame>();
        ICorDebugFrame? frame = null;
        _stopped?.GetActiveFrame(out frame);
        while (frame is not null)
        {
            if (frame.GetFunction(out _) >= 0) frames.Add(frame); // else it is the runtime's own
            frame.GetCaller(out frame);
        }
        return frames;
    }

    private string NameOf(ICorDebugFrame frame)
    {
        frame.GetFunction(out ICorDebugFunction? function);
        function!.GetModule(out ICorDebugModule module);
        function.GetToken(out uint token);
        return _modules.TryGetValue(NameOf(module), out (AssemblyFile File, ICorDebugModule) known) ? known.File.NameOf(token) : $"{token:x8}";
    }

    private static string NameOf(ICorDebugModule module)
    {
        char* name = stackalloc char[NameCharsMax];
        module.GetName(NameCharsMax, out uint length, name);
        return new string(name, 0, (int)length - 1);
    }

    /// <summary>
    /// A module is its user's if its symbols are there and its code is not optimised, but for what is marked as none of the user's. The
    /// library refuses it for what is optimised.
    /// </summary>
    private void ModuleLoaded(nint loaded)
    {
        ICorDebugModule module = ComInterfaceMarshaller<ICorDebugModule>.ConvertToManaged((void*)loaded)!;
        if (AssemblyFile.Open(NameOf(module)) is not { } file) return;
        _modules[file.Path] = (file, module);
        if (!file.HasSymbols || ((ICorDebugModule2)module).SetJmcStatus(1, 0, 0) < 0) return;
        foreach (uint token in file.NotTheUsers)
        {
            module.GetFunctionFromToken(token, out ICorDebugFunction function);
            ((ICorDebugFunction2)function).SetJmcStatus(0);
        }
    }

    private void Stopped(StopKind kind, nint thread) =>
        _stops.Add((kind, thread == 0 ? null : ComInterfaceMarshaller<ICorDebugThread>.ConvertToManaged((void*)thread)));
}
