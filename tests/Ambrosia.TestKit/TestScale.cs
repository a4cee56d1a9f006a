using System.Globalization;

namespace Ambrosia.TestKit;

/// <summary>
/// How much of the random and repeated work a run does: 1 is a release, test.sh's default of 0.1 a commit, more a campaign. Read once from
/// AMBROSIA_TEST_SCALE. It scales counts, never bounds or expectations.
/// </summary>
public static class TestScale
{
    public const string Variable = "AMBROSIA_TEST_SCALE";
    public const double Default = 0.1;

    public static double Value { get; } = Parse(Environment.GetEnvironmentVariable(Variable));

    /// <summary>That share of a release's rounds, at least one.</summary>
    public static int Rounds(int release) => Math.Max(1, checked((int)(release * Value)));

    /// <summary>
    /// Of cases that are tried one by one and are many, a release tries each and a commit one of so many, others each time: with which it
    /// begins, from 0, and how far it steps.
    /// </summary>
    public static (int First, int Step) Sample(int commit)
    {
        int step = Value < 1 ? commit : 1;
        return (Random.Shared.Next(step), step);
    }

    /// <exception cref="FormatException">Set, and not a number above 0: better no run than one of the wrong size.</exception>
    internal static double Parse(string? text)
    {
        if (string.IsNullOrEmpty(text)) return Default;
        return double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double value) && value > 0
            && double.IsFinite(value)
            ? value : throw new FormatException($"{Variable} is '{text}'; it takes a number above 0");
    }
}
