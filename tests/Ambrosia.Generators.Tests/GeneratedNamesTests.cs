using System.Reflection;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests;

/// <summary>
/// The names of generated methods say what they wait for: …Async for the answer, …Logged until an impulse is logged, …Fork for nothing
/// (docs/programming-model.md). As every name has one of these endings, no two methods of a contract share a generated name.
/// </summary>
public sealed class GeneratedNamesTests
{
    private const string Contract = """
        public interface IA
        {
            void A(int n);
            [ImpulseHandler] void AFork(int n);
            [ImpulseHandler] void ALogged(int n);
            int AAsync(int n);
            [Query] int AForkAsync(int n);
        }
        """;

    private static readonly MetadataReference s_client = MetadataReference.CreateFromFile(typeof(Client.ImmortalClient).Assembly.Location);

    [Fact]
    public void Proxy_HasAName_ForEachThingToWaitFor()
    {
        Type proxy = Load(Contract + " public class Holder { public IAProxy? Proxy; }").GetType("IAProxy")!;

        Assert.Equal(
            [
                "AAsync: Call", "AAsyncAsync: Call`1", "AAsyncFork: Void", "AFork: Void", "AForkAsync: Call", "AForkFork: Void",
                "AForkLogged: Call", "ALoggedAsync: Call", "ALoggedFork: Void", "ALoggedLogged: Call", "WithKey: Keyed", "WithKey: Keyed",
            ],
            Methods(proxy, BindingFlags.Instance));
    }

    [Fact]
    public void Client_HasAName_ForEachThingToWaitFor()
    {
        const string caller =
            "public static class Caller { public static Task Go(Ambrosia.Client.ImmortalClient client) => client.GetProxy<IA>().AAsync(1); }";
        Type calls = Load(Contract + caller).GetType("IAClientCalls")!;

        Assert.Equal(
            ["AAsync: Task", "AAsyncAsync: Task`1", "AForkAsync: Task", "AForkAsyncAsync: Task`1", "AForkLogged: Task`1",
                "ALoggedAsync: Task", "ALoggedLogged: Task`1"],
            Methods(calls, BindingFlags.Static));
    }

    /// <summary>What generated code calls in the proxies' base has names of the same endings.</summary>
    [Fact]
    public void Methods_NamedLikeThoseOfTheBase_Compile()
    {
        Load("""
            [Contract] public interface ISender
            {
                void Begin(uint method, int argumentBytesHint);
                void Send();
                [ImpulseHandler] void BeginImpulse(uint method);
                [ImpulseHandler] void SendImpulse(byte[] message);
                int Call(uint method);
                string Complete(int result);
            }
            """);
    }

    /// <summary>A class of the proxy's name is refused (AMB017), unless it is a part of it.</summary>
    [Fact]
    public void Proxy_WithAPartOfTheUsers_HasItsMembers() =>
        Load("[Contract] public interface IX { void Go(); } public partial class IXProxy { public void GoTwice() { GoFork(); GoFork(); } }");

    private static Assembly Load(string source)
    {
        Generation generation = Generation.Of(source, s_client);
        Assert.Empty(generation.Diagnostics);
        return generation.Load();
    }

    private static string[] Methods(Type type, BindingFlags which) =>
        [.. type.GetMethods(which | BindingFlags.Public | BindingFlags.DeclaredOnly).Where(static each => !each.IsSpecialName)
            .Select(static each => $"{each.Name}: {each.ReturnType.Name}").Order(StringComparer.Ordinal)];
}
