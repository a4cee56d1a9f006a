using System.Buffers;
using System.Reflection;
using Ambrosia.Tasks;
using Ambrosia.TestKit;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// Random states are written, restored and written again, and then both go on: what they answer and enumerate must be the same. A release
/// tries 100,000 of them.
/// </summary>
public sealed class GeneratedStateTests
{
    private const int StatesOfARelease = 100_000, OperationsBehind = 50, EditsBetween = 8, FaultTries = 400;

    [Fact]
    public void RandomStates_Restored_BehaveAsTheWrittenOnes()
    {
        int seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int set) ? set : Random.Shared.Next();
        for (int i = TestScale.Rounds(StatesOfARelease); i > 0; i--, seed++)
            Assert.True(WhatDiffers(seed) is not { } differs, $"AMBROSIA_FUZZ_SEED={seed}: {WhatDiffers(seed)}");
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

    /// <summary>Says in which seed's state a restored one is other than the written one; null: in none.</summary>
    /// <param name="fault">Is done to what was restored.</param>
    private static string? WhatDiffers(int seed, Action<GeneratedState>? fault = null)
    {
        var random = new Random(seed);
        GeneratedState written = GeneratedState.Make(random), restored = written;
        for (int checkpoints = random.Next(1, 3); checkpoints > 0; checkpoints--)
        {
            byte[] image = Written(restored);
            restored = ValueImage.Read<GeneratedState>(image, static (_, _) => { });
            if (fault is null && !Written(restored).AsSpan().SequenceEqual(image)) return "the image is another one";
            for (int i = checkpoints > 1 ? EditsBetween : 0; i > 0; i--)
            {
                int edit = random.Next();
                if (written.Do(edit) != restored.Do(edit)) return $"edit {edit} has another answer";
            }
        }
        fault?.Invoke(restored);
        for (int i = 0; i < OperationsBehind; i++)
        {
            int operation = random.Next();
            string before = written.Do(operation), behind = restored.Do(operation);
            if (before != behind) return $"operation {i} ({operation}) answers {behind} instead of {before}";
        }
        return written.Show() == restored.Show() ? null : $"{restored.Show()} instead of {written.Show()}";
    }

    private static byte[] Written(GeneratedState state)
    {
        var to = new ArrayBufferWriter<byte>();
        ValueImage.Write(to, state);
        return to.WrittenSpan.ToArray();
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
