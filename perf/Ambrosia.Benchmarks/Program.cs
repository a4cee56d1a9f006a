using Ambrosia.Benchmarks.Images;
using BenchmarkDotNet.Running;

switch (args)
{
    case ["images", .. var rest]: return ImageCommand.Run(rest);
    case [ImageRound.Take, var kind, var mebibytes, var file]:
        ImageRound.RunTake(kind, long.Parse(mebibytes, System.Globalization.CultureInfo.InvariantCulture), file);
        return 0;
    case [ImageRound.Restore, var file]:
        ImageRound.RunRestore(file);
        return 0;
    case [ImageRound.Show, var file]:
        ImageRound.RunShow(file);
        return 0;
    default:
        BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
        return 0;
}
