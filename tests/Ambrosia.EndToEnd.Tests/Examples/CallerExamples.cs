using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.Protocol;

namespace Ambrosia.EndToEnd.Tests.Examples;

/// <summary>Examples of docs/programming-model.md about callers outside, against a real instance.</summary>
public sealed class CallerExamples
{
    [Fact]
    public async Task Caller_AsTheDocumentShows_IsAnswered()
    {
        using var cluster = new Cluster();
        cluster.Add("bank", "bank").Start();
        string catalog = cluster.Catalog;
        await cluster.RunAsync(Cluster.Again(nameof(Caller_AsTheDocumentShows_IsAnswered)), async () =>
        {
            #region callers outside
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(catalog, "bank");
            ClientProxy<IBank> bank = client.GetProxy<IBank>();

            long place = await bank.DepositAsync("ann"); // logged, executed, answered
            await bank.NoteLogged("a visitor");       // an impulse: comes back when it is logged
            #endregion
            Assert.Equal(1, place);

            #region keys
            long first = await bank.WithKey("order-17").DepositAsync("ann");
            long again = await bank.WithKey("order-17").DepositAsync("ann"); // the same deposit, so the same answer
            #endregion
            Assert.Equal((3, 3), (first, again));

            #region queries
            Lsn logged = await bank.NoteLogged("a letter");
            long total = await bank.TotalAsync();                         // sees everything that this client was told before
            QueryAnswer<long> answer = await bank.AtLeast(logged).TotalAsync(); // in another process: give it the position
            (long value, Lsn position) = (answer.Value, answer.Position); // all of the log below position, and nothing of what follows
            #endregion
            Assert.Equal((4, 4), (total, value));
            Assert.True(position >= logged);

            string told = "";
            #region failures outside
            try
            {
                await bank.RefuseAsync("not today");
            }
            catch (RequestFailedException failure) when (failure.TypeName == "System.ArgumentException")
            {
                told = failure.Message; // the handler threw
            }
            catch (OutcomeUnknownException)
            {
                // The connection was lost, and there was no key: it took effect once, or never.
            }
            #endregion
            Assert.Equal("not today", told);
        });
    }
}
