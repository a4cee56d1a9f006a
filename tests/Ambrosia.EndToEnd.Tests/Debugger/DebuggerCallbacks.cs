using System.Runtime.InteropServices.Marshalling;

namespace Ambrosia.EndToEnd.Tests.Debugger;

/// <summary>
/// Hears from the runtime's library what happens in the process, on a thread of that library, while the process stands still. Whoever is
/// told of a stop lets it go on; everything else goes on by itself.
/// </summary>
[GeneratedComClass]
internal sealed partial class DebuggerCallbacks(Action<nint> moduleLoaded, Action<StopKind, nint> stopped)
    : IManagedCallback, IManagedCallback2
{
    private ICorDebugProcess? _process;

    /// <summary>The first is the process itself, and it stands still until this has returned.</summary>
    public unsafe int CreateProcess(nint process)
    {
        _process = ComInterfaceMarshaller<ICorDebugProcess>.ConvertToManaged((void*)process);
        return GoOn();
    }

    public int LoadModule(nint domain, nint module)
    {
        moduleLoaded(module);
        return GoOn();
    }

    public int Breakpoint(nint domain, nint thread, nint breakpoint) => Stop(StopKind.Breakpoint, thread);

    public int Break(nint domain, nint thread) => Stop(StopKind.Break, thread);

    public int StepComplete(nint domain, nint thread, nint stepper, int reason) => Stop(StopKind.Step, thread);

    public int ExitProcess(nint process) => Stop(StopKind.Exit, 0);

    public int DebuggerError(nint process, int result, uint code) => Stop(StopKind.Error, 0);

    private int Stop(StopKind kind, nint thread)
    {
        stopped(kind, thread);
        return 0;
    }

    private int GoOn() => _process?.Continue(0) ?? 0;

    public int Exception(nint domain, nint thread, int isUnhandled) => GoOn();
    public int EvalComplete(nint domain, nint thread, nint eval) => GoOn();
    public int EvalException(nint domain, nint thread, nint eval) => GoOn();
    public int CreateThread(nint domain, nint thread) => GoOn();
    public int ExitThread(nint domain, nint thread) => GoOn();
    public int UnloadModule(nint domain, nint module) => GoOn();
    public int LoadClass(nint domain, nint type) => GoOn();
    public int UnloadClass(nint domain, nint type) => GoOn();
    public int LogMessage(nint domain, nint thread, int level, nint name, nint message) => GoOn();
    public int LogSwitch(nint domain, nint thread, int level, uint reason, nint name, nint parent) => GoOn();
    public int CreateAppDomain(nint process, nint domain) => GoOn();
    public int ExitAppDomain(nint process, nint domain) => GoOn();
    public int LoadAssembly(nint domain, nint assembly) => GoOn();
    public int UnloadAssembly(nint domain, nint assembly) => GoOn();
    public int ControlCTrap(nint process) => GoOn();
    public int NameChange(nint domain, nint thread) => GoOn();
    public int UpdateModuleSymbols(nint domain, nint module, nint symbols) => GoOn();
    public int EditAndContinueRemap(nint domain, nint thread, nint function, int isAccurate) => GoOn();
    public int BreakpointSetError(nint domain, nint thread, nint breakpoint, uint error) => GoOn();
    public int FunctionRemapOpportunity(nint domain, nint thread, nint from, nint to, uint at) => GoOn();
    public int CreateConnection(nint process, uint connection, nint name) => GoOn();
    public int ChangeConnection(nint process, uint connection) => GoOn();
    public int DestroyConnection(nint process, uint connection) => GoOn();
    public int ExceptionFound(nint domain, nint thread, nint frame, uint at, int kind, uint flags) => GoOn();
    public int ExceptionUnwind(nint domain, nint thread, int kind, uint flags) => GoOn();
    public int FunctionRemapComplete(nint domain, nint thread, nint function) => GoOn();
    public int MdaNotification(nint controller, nint thread, nint mda) => GoOn();
}

/// <summary>Why the process stands still.</summary>
internal enum StopKind
{
    /// <summary>It has asked its debugger to break.</summary>
    Break,

    /// <summary>It has come to a method at which it is to stop.</summary>
    Breakpoint,

    /// <summary>The step that was asked for is done.</summary>
    Step,

    /// <summary>It has ended.</summary>
    Exit,

    /// <summary>The library has failed.</summary>
    Error,
}
