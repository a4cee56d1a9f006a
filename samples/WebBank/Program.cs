using Ambrosia.Hosting;
using WebBank;

// One program in two forms: both immortals with their coordinators in this process, or one of them under a coordinator of its
// own. The web server in front of them is the same in both.
WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
builder.AddAmbrosia(static all => all.ForkPolicy = "quarantine").AddImmortal<Bank>("bank").AddImmortal<Exchange>("exchange");
builder.Services.AddImmortalClient<IBank>("bank");
builder.Services.AddSingleton<PaymentNetwork>();
builder.Services.AddHealthChecks().AddAmbrosia();
builder.Logging.AddFilter("Microsoft.AspNetCore", LogLevel.Warning);

WebApplication app = builder.Build();
app.MapBank();
app.MapHealthChecks("/health");
app.Run();
