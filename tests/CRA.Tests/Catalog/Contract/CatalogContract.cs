using System.Collections.Concurrent;
using System.Reflection;
using Ambrosia.Protocol;
using CRA.Catalog;
using Xunit;

namespace CRA.Tests;

/// <summary>
/// The contract of <see cref="ICatalog"/>, which every implementation keeps. Each case is a method that gets an empty place; a suite runs
/// those that its fixture has the features for. The cases are in files by subject.
/// </summary>
public static partial class CatalogContract
{
    private static readonly Guid s_uuid = new("0f0e0d0c-0b0a-0908-0706-050403020100"), s_other = new("11111111-2222-3333-4444-555555555555");
    private static readonly InstanceId s_counter = new("counter");

    private static readonly MethodInfo[] s_cases =
        [.. typeof(CatalogContract).GetMethods(BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.DeclaredOnly)
            .Where(static method => method.GetCustomAttribute<NeedsAttribute>() is not null)];

    /// <summary>The names of the cases for a fixture with these features.</summary>
    public static TheoryData<string> CasesOf(CatalogFeatures has)
    {
        var names = new TheoryData<string>();
        foreach (MethodInfo each in s_cases)
            if ((each.GetCustomAttribute<NeedsAttribute>()!.Features & ~has) == 0) names.Add(each.Name);
        return names;
    }

    public static void Run(string name, CatalogFixture fixture)
    {
        MethodInfo found = s_cases.Single(each => each.Name == name);
        found.CreateDelegate<Action<CatalogFixture>>()(fixture);
    }

    public static CatalogEntry Entry(ulong epoch, string name = "counter", Guid? uuid = null, string address = "127.0.0.1:4711") =>
        new(new InstanceId(name), uuid ?? s_uuid, "/var/ambrosia/" + name, new Epoch(epoch),
            [new ReplicaEntry("r0", address, "primary", new Epoch(epoch))]);

    /// <summary>The oracle of the race, which the control with a torn store uses too: an epoch that was seen never goes back.</summary>
    internal static void Watch(ICatalog catalog, ConcurrentQueue<string> faults, CancellationToken stop)
    {
        ulong highest = 0;
        while (!stop.IsCancellationRequested)
        {
            ulong epoch = catalog.Find(s_counter)?.Epoch.Value ?? 0;
            if (epoch < highest) faults.Enqueue($"epoch {epoch} after {highest}");
            highest = Math.Max(highest, epoch);
        }
    }

    private static void Published(ICatalog catalog, CatalogEntry entry) => Assert.Equal(PublishResult.Published, catalog.Publish(entry));

    private static CatalogEntry Shard(CatalogEntry entry, ushort shard) => entry with { Instance = new InstanceId(entry.Instance.Name, shard) };

    /// <summary>Marks a case, and says what it needs.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    private sealed class NeedsAttribute(CatalogFeatures features = CatalogFeatures.None) : Attribute
    {
        public CatalogFeatures Features => features;
    }
}
