using Ambrosia;

// With options it holds its coordinator in its process: --log data/counter. Without any it is the app of a coordinator that starts it:
// ImmortalCoordinator --log data/counter -- dotnet Immortal.1.Counter.dll.
return args.Length == 0 ? AmbrosiaApp.Run<Immortal._1.Counter>(args) : AmbrosiaHost.Run<Immortal._1.Counter>(args);
