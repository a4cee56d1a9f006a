using Ambrosia;

// With options it holds its coordinator in its process: --log data/auditor. Without any it is the app of a coordinator that starts it:
// ImmortalCoordinator --log data/auditor -- dotnet Immortal.1.Auditor.dll.
return args.Length == 0 ? AmbrosiaApp.Run<Immortal._1.Auditor>(args) : AmbrosiaHost.Run<Immortal._1.Auditor>(args);
