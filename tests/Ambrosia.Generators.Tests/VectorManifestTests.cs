using System.Reflection;
using System.Text.Json.Nodes;
using Ambrosia.Generators.Serialization;

namespace Ambrosia.Generators.Tests;

/// <summary>
/// Manifests against protocol/vectors: the contract of Vectors.contract.json, declared in C#, gives that file byte by byte.
/// </summary>
public sealed class VectorManifestTests
{
    [Fact]
    public void Manifest_OfTheVectorsContract_IsTheirs()
    {
        Generation generation = Generation.OfAssembly("Vectors",
            Read("VectorContract.cs").Replace("namespace Ambrosia.Binding.Tests.Vectors;", "namespace Vectors;", StringComparison.Ordinal));

        Assert.Empty(generation.Diagnostics);
        Assert.Empty(string.Join('\n', generation.Errors()));
        Assert.Equal(Read("Vectors.contract.json").TrimEnd('\n'),
            generation.Load().GetCustomAttribute<ContractManifestAttribute>()!.Json);
    }

    [Fact]
    public void ContractHash_OfTheVectors_IsTheirs()
    {
        JsonNode vector = JsonNode.Parse(Read("contract.json"))!.AsArray()
            .Single(static each => (string?)each!["structure"] == "contractHash")!;
        byte[] contract = Convert.FromHexString((string)vector["hex"]!);

        Assert.Equal((string?)vector["expect"]!["hash"], FnvHash.Hash64(System.Text.Encoding.UTF8.GetString(contract)).ToString("x16"));
    }

    /// <summary>What an app states in its hello is made of the object in the manifest, byte by byte (docs/contract.md C1.7).</summary>
    [Fact]
    public void ContractHash_OfAnApp_IsThatOfTheManifestsObject()
    {
        Assembly assembly = Generation.Of("""
            public interface IOther { void Go(); }
            public interface IEcho { [MethodId(5)] string Say(string what = "é", int times = 2); }
            public partial class Echo : Immortal<IEchoProxy>, IEcho { public IOtherProxy? Other; public string Say(string what, int times) => what; }
            """).Load();
        var definition = (ImmortalDefinition)typeof(ImmortalDefinition).GetMethod(nameof(ImmortalDefinition.Of))!
            .MakeGenericMethod(assembly.GetType("Echo")!).Invoke(null, null)!;
        string manifest = assembly.GetCustomAttribute<ContractManifestAttribute>()!.Json;
        int from = manifest.IndexOf("{\"name\":\"IEcho\"", StringComparison.Ordinal);
        int to = manifest.IndexOf(",{\"name\":\"IOther\"", StringComparison.Ordinal);

        Assert.Equal(FnvHash.Hash64(manifest[from..to]), definition.ContractHash);
    }

    private static string Read(string file) => File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "vectors", file));
}
