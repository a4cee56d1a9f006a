using Ambrosia;
using Ambrosia.Client;
using ImmortalWeb._1;

// One program in two forms. By itself it holds the immortal's coordinator in its process. Started by a coordinator
// (ImmortalCoordinator --log data/counters -- dotnet ImmortalWeb.1.dll) it is the app of that one. The web server is the same in both.
WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.Logging.AddFilter("Microsoft.AspNetCore", LogLevel.Warning);
string data = builder.Configuration["data"] ?? "data";
bool isApp = Environment.GetEnvironmentVariable("AMBROSIA_APP") is not null;

// The process ends with its immortal, and starts where it was.
var immortal = new Thread(() => Environment.Exit(isApp
    ? AmbrosiaApp.Run<ImmortalWeb._1.Counters>([])
    : AmbrosiaHost.Run(["--log", data], EmbeddedImmortal.Of<ImmortalWeb._1.Counters>("counters"))));
immortal.Start();

// The web server keeps nothing. It calls the immortal from outside, by its name in the catalog.
await using ImmortalClient client = await ImmortalClient.ConnectAsync(Path.Combine(data, "catalog"), "counters");
await using WebApplication app = builder.Build();
app.MapCounters(client);
await app.RunAsync();

immortal.Join(); // it takes a last checkpoint before it ends
