using Ambrosia.Client;
using Microsoft.AspNetCore.Diagnostics;

namespace WebBank;

/// <summary>
/// Serves the bank over HTTP. The web server keeps nothing. A request that changes something has an Idempotency-Key, which is passed on to
/// the bank; so a browser, a proxy or this server may send it as often as they like.
/// </summary>
internal static class WebApi
{
    private const string KeyHeader = "Idempotency-Key";

    public static void MapBank(this WebApplication app)
    {
        ClientProxy<IBank> bank = app.Services.GetRequiredService<ClientProxy<IBank>>();
        app.UseExceptionHandler(failures => failures.Run(AnswerFailure));
        app.MapPost("/accounts/{account}/deposits", (string account, long cents, HttpRequest request, CancellationToken gone) =>
            WithKey(request, async key => await bank.WithKey(key).DepositAsync(account, cents, gone)));
        app.MapPost("/accounts/{account}/transfers", (string account, string to, long cents, HttpRequest request, CancellationToken gone) =>
            WithKey(request, async key => await bank.WithKey(key).TransferAsync(account, to, cents, gone)));
        app.MapPost("/accounts/{account}/remittances",
            (string account, string to, long cents, string currency, HttpRequest request, CancellationToken gone) =>
                WithKey(request, async key =>
                {
                    Receipt receipt = await bank.WithKey(key).RemitAsync(account, to, cents, currency, gone);
                    return $"{receipt.Confirmation}, {receipt.At:u}, receipt {receipt.Number}";
                }));
        app.MapPost("/accounts/{account}/plans",
            (string account, string to, long cents, long seconds, HttpRequest request, CancellationToken gone) => // back when it is logged
                WithKey(request, async key => await bank.WithKey(key).TransferLaterLogged(account, to, cents, seconds, gone)));
        app.MapDelete("/accounts/{account}/plans", (string account, HttpRequest request, CancellationToken gone) =>
            WithKey(request, async key => await bank.WithKey(key).CallOffAsync(account, gone)));
        app.MapGet("/rates", async (string currencies, CancellationToken gone) =>
            Results.Text($"{string.Join(' ', await bank.RatesAsync(currencies.Split(','), gone))}\n"));
        app.MapGet("/sold/{currency}",
            async (string currency, CancellationToken gone) => Results.Text($"{await bank.SoldAsync(currency, gone)}\n"));
        app.MapGet("/accounts/{account}", async (string account, CancellationToken gone) =>
        {
            await bank.SeenLogged(account, gone);
            Statement now = await bank.LookAsync(account, gone); // sees that it was seen, whichever replica answers
            return Results.Text($"{now.Cents} cents, seen {now.Views} times, {now.Planned} transfers planned\n");
        });
    }

    private static async Task<IResult> WithKey(HttpRequest request, Func<string, Task<object?>> call) =>
        request.Headers[KeyHeader] is [{ Length: > 0 and <= 64 } key]
            ? Results.Text($"{await call(key)}\n")
            : Results.Text($"Give the request a header {KeyHeader} of up to 64 characters, and the same one when you repeat it.\n",
                statusCode: StatusCodes.Status400BadRequest);

    private static Task AnswerFailure(HttpContext context)
    {
        Exception? failure = context.Features.Get<IExceptionHandlerFeature>()?.Error;
        context.Response.StatusCode = failure switch
        {
            NotEnoughException => StatusCodes.Status402PaymentRequired,
            RequestFailedException => StatusCodes.Status409Conflict,
            OutcomeUnknownException => StatusCodes.Status503ServiceUnavailable,
            _ => StatusCodes.Status500InternalServerError,
        };
        return context.Response.WriteAsync(
            $"{(failure is NotEnoughException or RequestFailedException or OutcomeUnknownException ? failure.Message : "something went wrong")}\n");
    }
}
