using Ambrosia.Client;

namespace Ambrosia.EndToEnd.Tests.Examples;

/// <summary>An example of docs/programming-model.md; CallerTests runs it against an instance with certificates.</summary>
internal static class ConnectExamples
{
    #region connecting
    internal static Task<ImmortalClient> Connect(string catalog, string folder) =>
        ImmortalClient.ConnectAsync(catalog, "bank", new ClientOptions
        {
            Name = "web",                            // what operators see; with certificates the name that its own is for
            ConnectWithin = TimeSpan.FromMinutes(1), // the instance may come later
            QueriesFrom = QuerySource.Secondaries,   // if there are any
            RequestsMax = 256,                       // under way at once; more calls wait in line
            TlsCertificate = Path.Combine(folder, "web.pem"), TlsKey = Path.Combine(folder, "web.key"),
            TlsAuthorities = Path.Combine(folder, "ca.pem"),
        });
    #endregion
}
