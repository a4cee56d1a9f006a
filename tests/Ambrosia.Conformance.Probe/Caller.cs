using System.Text.Json.Nodes;
using Ambrosia.Client;
using Ambrosia.Client.Connections;

namespace Conformance;

/// <summary>The probe as a caller outside: it asks what each line of its input says, and prints what came of it.</summary>
public static class Caller
{
    /// <summary>Kits of conformance refuse connections on purpose, and wait until the client gives up.</summary>
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(2);

    /// <summary>Until the input ends. Gives the exit code.</summary>
    public static async Task<int> ConverseAsync(string catalog, string instance, string name)
    {
        ImmortalClient? client = null;
        while (Console.ReadLine() is { } line)
        {
            JsonObject said = JsonNode.Parse(line)!.AsObject();
            JsonObject outcome;
            try
            {
                client ??= ImmortalClient.Create(catalog, instance, new ClientOptions { Name = name, ConnectWithin = s_patience });
                outcome = await AskAsync(client, said);
            }
            catch (RequestFailedException e)
            {
                outcome = new JsonObject { ["failure"] = Shown(e) };
            }
            catch (OutcomeUnknownException)
            {
                outcome = new JsonObject { ["unknown"] = true };
            }
            catch (Exception e) when (e is TimeoutException or ClientRefusedException or ArgumentException)
            {
                outcome = new JsonObject { ["refused"] = true, ["why"] = e.Message };
            }
            Console.WriteLine(outcome.ToJsonString());
        }
        client?.Dispose();
        return 0;
    }

    private static async Task<JsonObject> AskAsync(ImmortalClient client, JsonObject said)
    {
        ClientProxy<IProbe> proxy = client.GetProxy<IProbe>();
        if (said["key"]?.GetValue<string>() is { } key) proxy = proxy.WithKey(key);
        JsonArray arguments = said["arguments"]!.AsArray();
        switch (said["method"]!.GetValue<string>())
        {
            case "Add": return Value(await proxy.AddAsync(arguments[0]!.GetValue<long>()));
            case "Total": return Value(await proxy.TotalAsync());
            case "Peek": return Value((await proxy.PeekAsync()).Value);
            case "Refuse":
                await proxy.RefuseAsync(arguments[0]!.GetValue<string>());
                return new JsonObject { ["value"] = null };
            default:
                await proxy.TickLogged(arguments[0]!.GetValue<long>());
                return new JsonObject { ["logged"] = true };
        }
    }

    private static JsonObject Value(long number) => new() { ["value"] = number };

    private static JsonArray Shown(RequestFailedException failure) =>
        [failure.TypeName, failure.Message, failure.InnerException is RequestFailedException inner ? Shown(inner) : null];
}
