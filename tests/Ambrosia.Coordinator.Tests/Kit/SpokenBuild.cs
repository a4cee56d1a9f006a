using System.Text;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A build whose methods 1 and 2 execute what their letters say.</summary>
internal sealed record SpokenBuild(UInt128 Number, char One = 'a', char Two = 'a')
{
    public BuildId Id => new(Number);

    public string Outside { get; init; } = "o";

    public string First { get; init; } = "f";

    public string Resumed { get; init; } = "r";

    public byte[] Methods => Encoding.UTF8.GetBytes(
        $$"""
        {"format":1,"build":"{{Id}}","outside":"{{Outside}}","first":"{{First}}","resumed":"{{Resumed}}","methods":[
        {"id":1,"name":"ITest.One","hash":"{{One}}"},{"id":2,"name":"ITest.Two","hash":"{{Two}}"}]}
        """);
}
