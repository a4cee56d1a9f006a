using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary>Rivals by name on the command line.</summary>
internal static class RivalNames
{
    public const string Grpc = "grpc", Tcp = "tcp", Reference = "c", Off = "off", Buffered = "buffered", Standby = "standby",
        Rings = "rings", CSharp = "csharp";

    /// <summary>Not a rival: the end of a stream in C++, which is built with them.</summary>
    public const string StreamEnd = "stream_end";

    public static Option<IReadOnlyList<string>> Option() => new("--rivals")
    {
        Description = "Others that take turns with us: grpc (gRPC C++), tcp (a bare socket), c (our path in C); in streams also off and buffered (we ourselves with --log so), standby (we with a second replica of each receiver that follows), rings (we with --local rings) and csharp (we with both ends in C#, beside --bindings cpp). Like grpc,c. Default: none.",
        HelpName = "NAMES",
        DefaultValueFactory = static _ => [],
        CustomParser = static result =>
        {
            string[] names = result.Tokens[0].Value.Split(',');
            foreach (string name in names.Where(
                static name => name is not (Grpc or Tcp or Reference or Off or Buffered or Standby or Rings or CSharp)))
                result.AddError($"'{name}' of --rivals is none of {Grpc}, {Tcp}, {Reference}, {Off}, {Buffered}, {Standby}, {Rings}, {CSharp}");
            return names;
        },
    };
}
