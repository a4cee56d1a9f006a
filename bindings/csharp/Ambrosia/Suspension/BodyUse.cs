// Which bodies an image depends on: those of the machines, closures and lambdas in it. Written in front of the objects with what each body
// was, so that another build is compared before anything is restored. No lines of sources: they move without a body's changing, and
// replicas of two such builds must still write the same bytes. Invariant: rows in order of first use, sites in order of their states.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class BodyUse(Moving? moving)
{
    private readonly Dictionary<(string Assembly, string Id), UsedBody> byMethod = [];
    private readonly List<UsedBody> used = [];

    internal void Add(string assembly, BodyRow row, OwnedType? type)
    {
        UsedBody body = Of(assembly, row);
        if (type is not null) moving?.Check(row, type);
        if (type is not null && !body.Types.Contains(type)) body.Types.Add(type);
    }

    /// <summary>One more method is suspended at this state of this machine.</summary>
    internal void Suspended(string assembly, BodyRow row, OwnedType machine, int state) =>
        Of(assembly, row).Count(machine.Role, state);

    internal void Waiting(string assembly, BodyRow row, OwnedType machine, int state, string forWhat) =>
        Of(assembly, row).Waiting(machine.Role, state, forWhat);

    internal void CopyTo(ref CborWriter to)
    {
        to.WriteArrayHeader(used.Count);
        foreach (UsedBody body in used) body.Write(ref to);
    }

    private UsedBody Of(string assembly, BodyRow row)
    {
        if (byMethod.TryGetValue((assembly, row.Id), out UsedBody? known)) return known;
        var body = new UsedBody(moving?.AssemblyOf(row.Id, assembly) ?? assembly,
            moving is null ? row : row with { Id = moving.IdOf(row.Id) });
        byMethod.Add((assembly, row.Id), body);
        used.Add(body);
        return body;
    }

    private sealed class UsedBody(string assembly, BodyRow row)
    {
        private readonly SortedDictionary<(string Role, int State), (int Count, string For)> sites = [];

        internal List<OwnedType> Types { get; } = [];

        internal void Count(string role, int state) =>
            sites[(role, state)] = sites.TryGetValue((role, state), out var site) ? (site.Count + 1, site.For) : (1, "");

        internal void Waiting(string role, int state, string forWhat)
        {
            if (sites.TryGetValue((role, state), out var site) && site.For.Length == 0) sites[(role, state)] = (site.Count, forWhat);
        }

        internal void Write(ref CborWriter to)
        {
            to.WriteArrayHeader(6);
            to.WriteString(assembly);
            to.WriteString(row.Id);
            to.WriteString(row.Il);
            to.WriteString(row.Source);
            to.WriteArrayHeader(Types.Count);
            foreach (OwnedType type in Types)
            {
                to.WriteArrayHeader(3);
                to.WriteString(type.Role);
                to.WriteUInt64((ulong)type.Sites.Count);
                to.WriteArrayHeader(type.Layout.Count);
                foreach (string field in type.Layout) to.WriteString(field);
            }
            to.WriteArrayHeader(sites.Count);
            foreach (((string role, int state), (int count, string forWhat)) in sites)
            {
                to.WriteArrayHeader(4);
                to.WriteString(role);
                to.WriteUInt64((ulong)state);
                to.WriteUInt64((ulong)count);
                to.WriteString(forWhat);
            }
        }
    }
}
