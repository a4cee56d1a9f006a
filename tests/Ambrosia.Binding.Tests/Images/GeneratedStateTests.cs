using System.Reflection;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// Random states are written, and restored by a process in another zone and culture, and then both go on: what they answer, enumerate and
/// are written as must be the same. A release tries 100,000 of them.
/// </summary>
public sealed class GeneratedStateTests
{
    private const int StatesOfARelease = 100_000, StatesOfAProcess = 5_000, OperationsBehind = 50, FaultTries = 400;

    /// <summary>How much less a commit tries than other counts that the scale divides.</summary>
    private const int OfCommits = 10;

    [Fact]
    public void RandomStates_RestoredByAProcessElsewhere_BehaveAsTheWrittenOnes()
    {
        int seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int set) ? set : Random.Shared.Next();
        List<string> differing = [];
        for (int left = TestScale.Rounds(StatesOfARelease) / (TestScale.Value < 1 ? OfCommits : 1); left > 0; left -= StatesOfAProcess)
        {
            int count = Math.Min(left, StatesOfAProcess);
            differing.AddRange(WhatDiffersElsewhere(seed, count));
            seed += count;
        }
        Assert.True(differing.Count == 0, $"{differing.Count} of them differ: {string.Join("; ", differing.Take(10))}");
    }

    /// <summary>Has states restored by another process, and says which of them go on otherwise there than here.</summary>
    private static List<string> WhatDiffersElsewhere(int first, int count)
    {
        string file = Path.GetTempFileName();
        List<string> differing = [];
        try
        {
            GeneratedState[] states = [.. Enumerable.Range(first, count).Select(static seed => GeneratedState.Make(new Random(seed)))];
            using (var to = new BinaryWriter(File.Create(file)))
            {
                for (int i = 0; i < count; i++)
                {
                    byte[] image = GeneratedProcess.Written(states[i]);
                    to.Write(first + i);
                    to.Write(image.Length);
                    to.Write(image);
                }
            }
            string[] there = Processes.SaidElsewhere("generated-states", file).Split(GeneratedProcess.End);
            Assert.Equal(count + 1, there.Length);
            for (int i = 0; i < count; i++)
            {
                string here = GeneratedProcess.Told(states[i], first + i, isRestored: false);
                if (here == there[i]) continue;
                (string mine, string other) = here.Split('\n').Zip(there[i].Split('\n')).First(static pair => pair.First != pair.Second);
                differing.Add($"AMBROSIA_FUZZ_SEED={first + i}: '{other}' instead of '{mine}'");
            }
        }
        finally
        {
            File.Delete(file);
        }
        return differing;
    }

    public static TheoryData<string> Faults => [.. s_faults.Keys];

    /// <summary>The negative controls: a restore with one of these faults is found.</summary>
    [Theory]
    [MemberData(nameof(Faults))]
    public void Restore_WithAPlantedFault_IsFound(string fault) =>
        Assert.Contains(Enumerable.Range(1, FaultTries), seed => WhatDiffers(seed, s_faults[fault]) is not null);

    private static readonly Dictionary<string, Action<GeneratedState>> s_faults = new()
    {
        ["a comparer is lost"] = static state => Replace(state, nameof(state.Caseless), new Dictionary<string, int>(state.Caseless)),
        ["an element is dropped"] = static state => Sets(state).FirstOrDefault(static each => each.Count > 0)?.Clear(),
        ["a key is hashed before its own set is whole"] = static state =>
        {
            foreach (GeneratedCase<SetKey> each in state.Cases.OfType<GeneratedCase<SetKey>>())
                foreach (SetKey key in each.Map.Keys.ToArray())
                {
                    PlainKey[] members = [.. key.Members];
                    each.Map.Remove(key, out string? value);
                    key.Members.Clear();
                    each.Map.TryAdd(key, value);
                    key.Members.UnionWith(members);
                }
        },
        ["a map has another order"] = static state => Replace(
            state, nameof(state.Caseless), new Dictionary<string, int>(state.Caseless.Reverse(), StringComparer.OrdinalIgnoreCase)),
        ["free slots are lost"] = static state => Replace(state, nameof(state.Caseless),
            new Dictionary<string, int>(state.Caseless.ToList(), StringComparer.OrdinalIgnoreCase)),
        ["two values are exchanged"] = static state =>
        {
            if (state.Sorted.Count < 2) return;
            (RankKey first, RankKey last) = (state.Sorted.Keys.First(), state.Sorted.Keys.Last());
            (state.Sorted[first], state.Sorted[last]) = (state.Sorted[last], state.Sorted[first]);
        },
        ["a shared object comes back twice"] = static state =>
            state.Shared[3] = new Dictionary<string, int>(state.Caseless, StringComparer.OrdinalIgnoreCase),
        ["the order of a sorted set is another"] = static state => Replace(state, nameof(state.Ranking),
            new SortedSet<RankKey>(state.Ranking, Comparer<RankKey>.Create(static (x, y) => y.CompareTo(x)))),
        ["null is no value any more"] = static state =>
        {
            foreach (GeneratedCase<int> each in state.Cases.OfType<GeneratedCase<int>>())
                foreach (int key in each.Map.Keys.ToArray()) each.Map[key] ??= "";
        },
        ["a hash is the process's"] = static state =>
        {
            foreach (GeneratedCase<string> each in state.Cases.OfType<GeneratedCase<string>>())
                Replace(each, nameof(each.Set), new HashSet<string>(each.Set, new ByIdentity()));
        },
    };

    /// <summary>Says what is other in a seed's state with a fault that a restore might have; null: nothing is.</summary>
    private static string? WhatDiffers(int seed, Action<GeneratedState> fault)
    {
        var random = new Random(seed);
        GeneratedState written = GeneratedState.Make(random), restored = GeneratedProcess.Restored(GeneratedProcess.Written(written));
        fault(restored);
        for (int i = 0; i < OperationsBehind; i++)
        {
            int operation = random.Next();
            string before = written.Do(operation), behind = restored.Do(operation);
            if (before != behind) return $"operation {i} ({operation}) answers {behind} instead of {before}";
        }
        return written.Show() == restored.Show() ? null : $"{restored.Show()} instead of {written.Show()}";
    }

    private static IEnumerable<HashSet<string>> Sets(GeneratedState state) =>
        state.Cases.OfType<GeneratedCase<string>>().Select(static each => each.Set);

    private static void Replace<T>(T of, string property, object value) =>
        typeof(T).GetField($"<{property}>k__BackingField", BindingFlags.Instance | BindingFlags.NonPublic)!.SetValue(of, value);

    private sealed class ByIdentity : IEqualityComparer<string>
    {
        public bool Equals(string? x, string? y) => ReferenceEquals(x, y);

        public int GetHashCode(string obj) => System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(obj);
    }
}
