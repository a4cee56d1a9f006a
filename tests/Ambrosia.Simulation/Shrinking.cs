using System.Text.RegularExpressions;

namespace Ambrosia.Simulation;

/// <summary>
/// Makes a world that fails smaller: whole kinds of faults and of work are left out first, then single faults, as long as the same oracle
/// still finds the same thing. What is left is short enough to be read.
/// </summary>
internal sealed partial class Shrinking(ulong seed, Faults faults, Action<string> tell)
{
    /// <summary>So many worlds are tried at most.</summary>
    private const int TriesMax = 400;

    private int _tries;

    /// <summary>The kinds that the command asks for, as the worlds that are tried do.</summary>
    public IReadOnlyList<string> With { get; init; } = [];

    /// <summary>What is left out as a whole, in the end.</summary>
    public List<string> Off { get; } = [];

    /// <summary>The numbers of the faults that are left, in the end.</summary>
    public List<int> Left { get; private set; } = [];

    /// <summary>What the faults that are left do.</summary>
    public IReadOnlyList<string> Story { get; private set; } = [];

    public static int Run(CampaignOptions options)
    {
        var shrinking = new Shrinking(options.First, options.Faults, Console.WriteLine) { With = options.With };
        if (!shrinking.Run())
        {
            Console.WriteLine($"seed {options.First}: holds; there is nothing to shrink");
            return 0;
        }
        foreach (string fault in shrinking.Story) Console.WriteLine(fault);
        Console.WriteLine(shrinking.Command);
        return 1;
    }

    /// <summary>The command that repeats what is left.</summary>
    public string Command =>
        $"dotnet run -c Release --project tests/Ambrosia.Simulation -- --seed {seed}{(With.Count > 0 ? $" --with {string.Join(',', With)}" : "")}{(Off.Count > 0 ? $" --off {string.Join(',', Off)}" : "")} --only {FaultChoice.Write(Left)}";

    /// <summary>Shrinks as far as it can; false: the world does not fail at all.</summary>
    public bool Run()
    {
        if (Fail(faults) is not { } failure) return false;
        tell($"seed {seed}: {failure.What}");
        string signature = SignatureOf(failure.What);
        Faults smaller = LeaveKindsOut(signature);
        failure = Fail(smaller)!.Value;
        tell($"without {string.Join(", ", Off)}: {failure.Strikes.Count} faults");
        Left = [.. Enumerable.Range(1, failure.Strikes.Count)];
        bool Fails(IEnumerable<int> only) =>
            Fail(smaller with { Chosen = FaultChoice.Only(only) }) is { } again && SignatureOf(again.What) == signature;
        LeaveFaultsOut(Fails);
        (string what, Strikes strikes) = Fail(smaller with { Chosen = FaultChoice.Only(Left) })!.Value;
        Left = [.. Left.Where(number => number <= strikes.Count)];
        Story = [.. Left.Select(number => $"{number}: {strikes.All[number - 1]}"), what];
        return true;
    }

    private Faults LeaveKindsOut(string signature)
    {
        Faults smaller = faults;
        foreach (string kind in FaultKinds.All.Except(With))
        {
            Faults without = FaultKinds.Without(smaller, kind);
            if (Fail(without) is not { } again || SignatureOf(again.What) != signature) continue;
            smaller = without;
            Off.Add(kind);
        }
        return smaller;
    }

    /// <summary>Leaves ever smaller parts out, down to single faults, until none can be missed.</summary>
    private void LeaveFaultsOut(Func<IEnumerable<int>, bool> fails)
    {
        for (int part = Math.Max(1, Left.Count / 2); Left.Count > 0 && _tries < TriesMax; part = Math.Max(1, part / 2))
        {
            int before = Left.Count;
            for (int at = Math.Max(0, Left.Count - part); at >= 0 && _tries < TriesMax; at -= part)
            {
                List<int> without = [.. Left.Where((_, index) => index < at || index >= at + part)];
                if (without.Count == Left.Count || !fails(without)) continue;
                Left = without;
                tell($"{Left.Count} faults are left");
            }
            if (part == 1 && Left.Count == before) return;
        }
    }

    private (string What, Strikes Strikes)? Fail(Faults of)
    {
        _tries++;
        var world = new World(seed, of);
        try
        {
            world.Run();
            return null;
        }
        catch (SimulationFailure failure)
        {
            return (failure.Message.Split('\n')[0], world.Strikes);
        }
    }

    /// <summary>The oracle that was broken, or else the words without their numbers.</summary>
    internal static string SignatureOf(string failure)
    {
        string invariant = Invariant().Match(failure).Value;
        return invariant.Length > 0 ? invariant : Number().Replace(failure, "#");
    }

    [GeneratedRegex(@"\([A-Z][A-Za-z0-9.]*\)$")]
    private static partial Regex Invariant();

    [GeneratedRegex("[0-9a-f]*[0-9][0-9a-f]*")]
    private static partial Regex Number();
}
