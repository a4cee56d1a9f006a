using Ambrosia.Hosting;
using ImmortalWeb._1;

// One program in two forms. By itself it holds the immortal's coordinator in its process. Started by a coordinator
// (ImmortalCoordinator --log .ambrosia/counters -- dotnet ImmortalWeb.1.dll) it is the app of that one. The web server is the same in both.
WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.AddAmbrosia(static all => all.Log ??= ".ambrosia").AddImmortal<ImmortalWeb._1.Counters>("counters");
builder.Services.AddImmortalClient<ICounters>("counters");
builder.Services.AddHealthChecks().AddAmbrosia();
builder.Logging.AddFilter("Microsoft.AspNetCore", LogLevel.Warning);

WebApplication app = builder.Build();
app.MapCounters();
app.MapHealthChecks("/health");
app.Run();
