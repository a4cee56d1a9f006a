using System.Runtime.InteropServices;
using System.Runtime.InteropServices.Marshalling;

namespace Ambrosia.EndToEnd.Tests.Debugger;

// The interfaces by which debuggers speak with the runtime's own library (libmscordbi). Each has its methods in the order of its table,
// up to the last that is needed here; those that are only in the way have no parameters and are never called.

[GeneratedComInterface]
[Guid("3d6f5f61-7538-11d3-8d5b-00104b35e7ef")]
internal partial interface ICorDebug
{
    void Initialize();
    void Terminate();
    void SetManagedHandler(IManagedCallback handler);
    void SetUnmanagedHandler();
    void CreateProcess();
    void DebugActiveProcess(uint process, int isNative, out ICorDebugProcess debugged);
}

[GeneratedComInterface]
[Guid("3d6f5f62-7538-11d3-8d5b-00104b35e7ef")]
internal partial interface ICorDebugController
{
    void Stop(uint ignored);
    [PreserveSig] int Continue(int isOutOfBand);
    void IsRunning();
    void HasQueuedCallbacks();
    void EnumerateThreads();
    void SetAllThreadsDebugState();
    void Detach();
}

[GeneratedComInterface]
[Guid("3d6f5f64-7538-11d3-8d5b-00104b35e7ef")]
internal partial interface ICorDebugProcess : ICorDebugController
{
    void Terminate(uint code);
}

[GeneratedComInterface]
[Guid("938c6d66-7fb6-4f69-b389-425b8987329b")]
internal partial interface ICorDebugThread
{
    void GetProcess();
    void GetId(out uint id);
    void GetHandle();
    void GetAppDomain();
    void SetDebugState();
    void GetDebugState();
    void GetUserState();
    void GetCurrentException();
    void ClearCurrentException();
    void CreateStepper(out ICorDebugStepper stepper);
    void EnumerateChains();
    void GetActiveChain();
    void GetActiveFrame(out ICorDebugFrame? frame);
}

[GeneratedComInterface]
[Guid("CC7BCAEF-8A68-11d2-983C-0000F808342D")]
internal partial interface ICorDebugFrame
{
    void GetChain();
    void GetCode();
    [PreserveSig] int GetFunction(out ICorDebugFunction? function);
    void GetFunctionToken();
    void GetStackRange();
    void GetCaller(out ICorDebugFrame? frame);
}

[GeneratedComInterface]
[Guid("03E26311-4F76-11d3-88C6-006097945418")]
internal partial interface ICorDebugILFrame : ICorDebugFrame
{
    void GetCallee();
    void CreateStepper();
    void GetIP();
    void SetIP();
    void EnumerateLocalVariables();
    void GetLocalVariable();
    void EnumerateArguments();
    void GetArgument(uint index, out ICorDebugValue value);
}

[GeneratedComInterface]
[Guid("CC7BCAF7-8A68-11d2-983C-0000F808342D")]
internal partial interface ICorDebugValue
{
    void GetKind();
    void GetSize(out uint size);
    void GetAddress();
    void CreateBreakpoint();
}

[GeneratedComInterface]
[Guid("CC7BCAF8-8A68-11d2-983C-0000F808342D")]
internal partial interface ICorDebugGenericValue : ICorDebugValue
{
    void GetValue(nint into);
}

[GeneratedComInterface]
[Guid("CC7BCAF3-8A68-11d2-983C-0000F808342D")]
internal partial interface ICorDebugFunction
{
    void GetModule(out ICorDebugModule module);
    void GetClass();
    void GetToken(out uint token);
    void GetILCode();
    void GetNativeCode();
    void CreateBreakpoint(out nint breakpoint);
}

[GeneratedComInterface]
[Guid("EF0C490B-94C3-4E4D-B629-DDC134C532D8")]
internal partial interface ICorDebugFunction2
{
    void SetJmcStatus(int isUsers);
}

[GeneratedComInterface]
[Guid("dba2d8c1-e5c5-4069-8c13-10a7c6abf43d")]
internal unsafe partial interface ICorDebugModule
{
    void GetProcess();
    void GetBaseAddress();
    void GetAssembly();
    void GetName(uint room, out uint length, char* name);
    void EnableJitDebugging();
    void EnableClassLoadCallbacks();
    void GetFunctionFromToken(uint token, out ICorDebugFunction function);
}

[GeneratedComInterface]
[Guid("7FCC5FB5-49C0-41DE-9938-3B88B5B9ADD7")]
internal partial interface ICorDebugModule2
{
    [PreserveSig] int SetJmcStatus(int isUsers, uint count, nint exceptTokens);
    void ApplyChanges();
    void SetJitCompilerFlags();
    void GetJitCompilerFlags(out uint flags);
}

[GeneratedComInterface]
[Guid("CC7BCAEC-8A68-11d2-983C-0000F808342D")]
internal partial interface ICorDebugStepper
{
    void IsActive();
    void Deactivate();
    void SetInterceptMask(uint mask);
    void SetUnmappedStopMask(uint mask);
    void Step(int isInto);
}

[GeneratedComInterface]
[Guid("C5B6E9C3-E7D1-4A8E-873B-7F047F0706F7")]
internal partial interface ICorDebugStepper2
{
    void SetJmc(int isOn);
}

[GeneratedComInterface]
[Guid("3d6f5f60-7538-11d3-8d5b-00104b35e7ef")]
internal partial interface IManagedCallback
{
    [PreserveSig] int Breakpoint(nint domain, nint thread, nint breakpoint);
    [PreserveSig] int StepComplete(nint domain, nint thread, nint stepper, int reason);
    [PreserveSig] int Break(nint domain, nint thread);
    [PreserveSig] int Exception(nint domain, nint thread, int isUnhandled);
    [PreserveSig] int EvalComplete(nint domain, nint thread, nint eval);
    [PreserveSig] int EvalException(nint domain, nint thread, nint eval);
    [PreserveSig] int CreateProcess(nint process);
    [PreserveSig] int ExitProcess(nint process);
    [PreserveSig] int CreateThread(nint domain, nint thread);
    [PreserveSig] int ExitThread(nint domain, nint thread);
    [PreserveSig] int LoadModule(nint domain, nint module);
    [PreserveSig] int UnloadModule(nint domain, nint module);
    [PreserveSig] int LoadClass(nint domain, nint type);
    [PreserveSig] int UnloadClass(nint domain, nint type);
    [PreserveSig] int DebuggerError(nint process, int result, uint code);
    [PreserveSig] int LogMessage(nint domain, nint thread, int level, nint name, nint message);
    [PreserveSig] int LogSwitch(nint domain, nint thread, int level, uint reason, nint name, nint parent);
    [PreserveSig] int CreateAppDomain(nint process, nint domain);
    [PreserveSig] int ExitAppDomain(nint process, nint domain);
    [PreserveSig] int LoadAssembly(nint domain, nint assembly);
    [PreserveSig] int UnloadAssembly(nint domain, nint assembly);
    [PreserveSig] int ControlCTrap(nint process);
    [PreserveSig] int NameChange(nint domain, nint thread);
    [PreserveSig] int UpdateModuleSymbols(nint domain, nint module, nint symbols);
    [PreserveSig] int EditAndContinueRemap(nint domain, nint thread, nint function, int isAccurate);
    [PreserveSig] int BreakpointSetError(nint domain, nint thread, nint breakpoint, uint error);
}

[GeneratedComInterface]
[Guid("250E5EEA-DB5C-4C76-B6F3-8C46F12E3203")]
internal partial interface IManagedCallback2
{
    [PreserveSig] int FunctionRemapOpportunity(nint domain, nint thread, nint from, nint to, uint at);
    [PreserveSig] int CreateConnection(nint process, uint connection, nint name);
    [PreserveSig] int ChangeConnection(nint process, uint connection);
    [PreserveSig] int DestroyConnection(nint process, uint connection);
    [PreserveSig] int ExceptionFound(nint domain, nint thread, nint frame, uint at, int kind, uint flags);
    [PreserveSig] int ExceptionUnwind(nint domain, nint thread, int kind, uint flags);
    [PreserveSig] int FunctionRemapComplete(nint domain, nint thread, nint function);
    [PreserveSig] int MdaNotification(nint controller, nint thread, nint mda);
}
