using Ambrosia;

namespace Conformance;

/// <summary>The interpreter of steps.</summary>
public sealed partial class Probe
{
    public async Call<List<string>> Do(List<Step> steps)
    {
        var seen = new List<string>();
        for (int i = 0; i < steps.Count; i++)
        {
            Step step = steps[i];
            switch (step.Op)
            {
                case Operation.Again:
                    (steps, i) = (step.Steps, -1);
                    seen.Clear();
                    break;
                case Operation.Through:
                    seen.Add($"{await To(step.To).AddAsync(step.Number)}");
                    break;
                case Operation.Call or Operation.Ask or Operation.Delay or Operation.Task:
                    seen.AddRange(await Leaf(step));
                    break;
                case Operation.All:
                    foreach (List<string> part in await Call.WhenAll(step.Steps.ConvertAll(Leaf))) seen.AddRange(part);
                    break;
                case Operation.Any:
                    seen.AddRange(await FirstOf(step.Steps));
                    break;
                case Operation.Within:
                    seen.Add(await InTime(step.Steps[0], TimeSpan.FromMicroseconds(step.Number)));
                    break;
                default:
                    Act(step, seen);
                    break;
            }
        }
        return seen;
    }

    /// <summary>Executes a step that does not wait.</summary>
    private void Act(Step step, List<string> seen)
    {
        switch (step.Op)
        {
            case Operation.Say: seen.Add(step.Text); break;
            case Operation.Add: Count(step.Number); break;
            case Operation.Read: seen.Add($"{_total}"); break;
            case Operation.Fork: To(step.To).AddFork(step.Number); break;
            case Operation.ForkDo: To(step.To).DoFork(step.Steps); break;
            case Operation.Pass: To(step.To).AddFork(long.Parse(seen[^1])); break;
            case Operation.Throw: throw new Refused(step.Text);
            case Operation.Guid: seen.Add($"{NewGuid()}"); break;
            case Operation.Random: seen.Add($"{Random.Next(1_000_000)}"); break;
            case Operation.Now: seen.Add($"{(Now - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond}"); break;
            case Operation.Checkpoint: RequestCheckpoint(); break;
            case Operation.Pulse: _pulses.Add((step.To, step.Number, step.Text)); break;
            case Operation.Every: _beat = Every(TimeSpan.FromMicroseconds(step.Number), Beat); break;
            case Operation.Stop: _beat.Stop(); break;
            default: throw new Refused($"there is no step {step.Op}");
        }
    }

    private void Beat()
    {
        Count(1);
        To("beat").AddFork(1);
    }

    /// <summary>Executes a step that waits for one thing, and gives what it saw.</summary>
    private Call<List<string>> Leaf(Step step) => Leaf(step, null);

    private async Call<List<string>> Leaf(Step step, CallCancellation? until)
    {
        try
        {
            switch (step.Op)
            {
                case Operation.Call: return await To(step.To).DoAsync(step.Steps);
                case Operation.Delay:
                    Call delay = Delay(TimeSpan.FromMicroseconds(step.Number));
                    await (until is null ? delay : delay.CancelledBy(until));
                    return [];
                default:
                    Call<long> call = Number(step);
                    return [$"{await (until is null ? call : call.CancelledBy(until))}"];
            }
        }
        catch (Exception failure)
        {
            return [Shown(failure)];
        }
    }

    private async Call<List<string>> FirstOf(List<Step> steps)
    {
        var until = new CallCancellation();
        List<Call<List<string>>> leaves = steps.ConvertAll(step => Leaf(step, until));
        Call<List<string>> first = await Call.WhenAny(leaves);
        List<string> seen = [$"{leaves.IndexOf(first)}", .. await first];
        until.Cancel();
        return seen;
    }

    private async Call<string> InTime(Step step, TimeSpan time)
    {
        try
        {
            return $"{await Number(step).Within(time)}";
        }
        catch (Exception failure)
        {
            return Shown(failure);
        }
    }

    private Call<long> Number(Step step)
    {
        if (step.Op == Operation.Ask) return To(step.To).AddAsync(step.Number);
        (long number, string text) = (step.Number, step.Text);
        return NondetMethod(Double, (number, text));
    }

    private static long Double((long Number, string Text) argument) =>
        argument.Number < 0 ? throw new Refused(argument.Text) : unchecked(2 * argument.Number);

    private static string Shown(Exception failure) => failure switch
    {
        RemoteCallException remote => $"{remote.TypeName}: {remote.Message}",
        TimeoutException => $"Ambrosia.Timeout: {failure.Message}",
        _ => $"{failure.GetType().FullName}: {failure.Message}",
    };
}
