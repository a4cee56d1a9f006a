using Ambrosia.Client;
using Microsoft.AspNetCore.Mvc;

namespace ImmortalWeb._1;

/// <summary>
/// The endpoints, each of which is one call to the immortal. A request that changes something has an Idempotency-Key, which is passed on:
/// so a browser, a proxy or this server may send it as often as they like.
/// </summary>
internal static class CountersApi
{
    private const string KeyHeader = "Idempotency-Key";

    public static void MapCounters(this WebApplication app)
    {
        app.MapPost("/counters/{counter}", async (
            string counter, long amount, [FromHeader(Name = KeyHeader)] string? key, ClientProxy<ICounters> counters,
            CancellationToken gone) =>
                key is { Length: > 0 and <= 64 }
                    ? await AnswerAsync(() => counters.WithKey(key).AddAsync(counter, amount, gone))
                    : Results.Problem($"Give a header {KeyHeader} of up to 64 characters, and the same one when you repeat the request.",
                        statusCode: StatusCodes.Status400BadRequest));

        app.MapGet("/counters/{counter}", (string counter, ClientProxy<ICounters> counters, CancellationToken gone) =>
            AnswerAsync(async () => (await counters.ReadAsync(counter, gone)).Value)); // behind it: which state was asked
    }

    private static async Task<IResult> AnswerAsync(Func<Task<long>> call)
    {
        try
        {
            return Results.Ok(await call());
        }
        catch (KeyReusedException failure)
        {
            return Results.Problem(failure.Message, statusCode: StatusCodes.Status422UnprocessableEntity);
        }
        catch (RequestFailedException failure) // the handler threw
        {
            return Results.Problem(failure.Message, statusCode: StatusCodes.Status409Conflict);
        }
        catch (Exception failure) when (failure is OutcomeUnknownException or TimeoutException or ClientRefusedException)
        {
            // It is not known whether the call was executed, or the instance was not reached: ask again, with the same key.
            return Results.Problem(failure.Message, statusCode: StatusCodes.Status503ServiceUnavailable);
        }
    }
}
