using System.Diagnostics;

namespace Ambrosia.Perf.Tests;

/// <summary>What a round of two replicas tells, in every order in which it can be heard.</summary>
public sealed class FailoverRoundTests
{
    private const long Messages = 10;
    private const int Bytes = 16;

    private static readonly ClusterOptions s_nowhere = new("nowhere", TimeSpan.FromSeconds(1));

    private readonly Member _primary = new("receiver", "r0", "none", s_nowhere, static _ => { });
    private readonly Member _second = new("receiver", "r1", "none", s_nowhere, static _ => { });

    private static long Killed { get; } = Stopwatch.GetTimestamp();

    [Fact]
    public void Take_PrimaryKilledInTheMiddle_CountsFromTheKill()
    {
        FailoverRound round = Heard("r0 half 7 0", "r1 half 7 0", "r1 primary +2", "r1 done 7 0 10 160 0 +3");

        Assert.True(round.IsHalf && round.IsOver);
        FailedOver found = round.Since(Killed)!;
        Assert.True(found.PrimaryMs > 0 && found.DoneMs > found.PrimaryMs);
    }

    [Fact]
    public void Take_TheOtherReplicaEndsTheRoundBeforeThePrimaryTellsItsHalf_IsOverAndProvesNothing()
    {
        FailoverRound round = Heard("r1 half 7 0", "r1 done 7 0 10 160 0 -1", "r0 half 7 0");
        Assert.True(round.IsHalf);
        Assert.False(round.IsOver);

        round.Take(Of("r1 primary +2"));

        Assert.True(round.IsOver);
        Assert.Null(round.Since(Killed));
    }

    [Fact]
    public void Take_HalfOfTheOtherReplica_IsNoReasonToKill() => Assert.False(Heard("r1 half 7 0").IsHalf);

    [Fact]
    public void Take_LinesOfAnotherRound_SayNothingOfThisOne()
    {
        FailoverRound round = Heard("r0 half 6 0", "r1 done 6 0 10 160 0 +1", "r1 primary +2");

        Assert.False(round.IsHalf);
        Assert.False(round.IsOver);
    }

    [Fact]
    public void Take_PrimaryThatTheKilledOneWas_IsNotTheOtherReplica() =>
        Assert.False(Heard("r0 primary +1", "r1 done 7 0 10 160 0 +2").IsOver);

    [Fact]
    public void Take_TotalsOfFewerMessages_FailsTheRound() =>
        Assert.Throws<FailedRoundException>(() => Heard("r1 done 7 0 9 144 0 +3"));

    [Theory]
    [InlineData("half 7 0", true)]
    [InlineData("done 7 0 10 160 0 1", true)]
    [InlineData("primary 1", true)]
    [InlineData("primary of receiver", false)]
    [InlineData("begun 7 0 1", false)]
    public void Concerns_WhatARoundIsToldWith(string text, bool expected) =>
        Assert.Equal(expected, FailoverRound.Concerns(new Line(_primary, 0, text)));

    private FailoverRound Heard(params ReadOnlySpan<string> lines)
    {
        var round = new FailoverRound(7, Messages, Bytes, _primary, _second);
        foreach (string line in lines) round.Take(Of(line));
        return round;
    }

    /// <summary>A replica and its line, whose moment, where it has one, is so many seconds behind the kill.</summary>
    private Line Of(string text)
    {
        string[] words = text.Split(' ');
        if (words[^1][0] is '+' or '-') words[^1] = $"{Killed + (int.Parse(words[^1]) * Stopwatch.Frequency)}";
        return new Line(words[0] == "r0" ? _primary : _second, 0, string.Join(' ', words[1..]));
    }
}
