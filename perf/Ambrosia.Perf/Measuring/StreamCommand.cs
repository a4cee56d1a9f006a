// One direction as fast as it goes, for each size some rounds. A round is timed from the sender's first message to the receiver's last,
// by the lines that the two print there, and counts only if count, order and bytes are right.
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>What <c>stream</c> does.</summary>
internal sealed class StreamCommand(string logDirectory, TimeSpan limit, Action<string> say, CancellationToken stop = default)
{
    private const string Sender = "sender", Receiver = "receiver";

    /// <summary>Rounds before the first that counts: the JIT has then seen the road of a call.</summary>
    private const int WarmUpRounds = 2;

    private int round;

    /// <exception cref="FailedRoundException">A round's figures mean nothing.</exception>
    public IReadOnlyList<StreamResult> Run(IReadOnlyList<int> sizes, long bytes, long messagesMax, int rounds)
    {
        using Pair pair = Pair.Start(logDirectory, limit, stop, (Receiver, "stream-receiver"), (Sender, "stream-sender"));
        var results = new List<StreamResult>();
        foreach (int size in sizes)
        {
            long messages = Math.Clamp(bytes / size, 1, messagesMax);
            for (int i = 0; i < WarmUpRounds; i++) RunRound(pair, messages, size);
            double[] seconds = new double[rounds];
            for (int i = 0; i < rounds; i++)
            {
                seconds[i] = RunRound(pair, messages, size).TotalSeconds;
                say($"{size} B, round {i + 1} of {rounds}: {messages} messages in {seconds[i]:F3} s");
            }
            results.Add(new StreamResult(size, messages, seconds));
        }
        return results;
    }

    private TimeSpan RunRound(Pair pair, long messages, int size)
    {
        round++;
        pair.Tell(Sender, $"stream {round} {messages} {size}");
        AwaitRound(pair, "begun");
        long begun = Stopwatch.GetTimestamp();
        string[] done = AwaitRound(pair, "done");
        TimeSpan took = Stopwatch.GetElapsedTime(begun);
        if (done is not [_, _, string count, string total, string disorder]) throw new FailedRoundException($"'{string.Join(' ', done)}' is no end of a round");
        if (long.Parse(count) != messages) throw new FailedRoundException($"{count} of {messages} messages arrived");
        if (long.Parse(total) != messages * size) throw new FailedRoundException($"{total} of {messages * size} bytes arrived");
        if (disorder != "0") throw new FailedRoundException($"{disorder} of {messages} messages were not the next one");
        return took;
    }

    private string[] AwaitRound(Pair pair, string word)
    {
        (_, string[] words) = pair.Await(word, limit);
        if (words.Length < 2 || words[1] != $"{round}") throw new FailedRoundException($"'{string.Join(' ', words)}' in round {round}");
        return words;
    }
}
