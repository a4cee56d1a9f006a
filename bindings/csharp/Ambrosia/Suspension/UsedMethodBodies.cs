using Ambrosia.MethodBodies;
using Ambrosia.Protocol;

namespace Ambrosia.Suspension;

/// <summary>
/// Collects which bodies an image depends on: those of the state machines, closures and lambdas in it. They are written in front of the
/// objects with what each body was, so that another build is compared before anything is restored. They hold no lines of sources: those
/// move without a body's changing, and replicas of two such builds must still write the same bytes. Invariant: rows stand in the order of
/// first use, sites in the order of their states.
/// </summary>
internal sealed class UsedMethodBodies(IMethodRenames? renames)
{
    private readonly Dictionary<(string Assembly, string Id), UsedBody> _byMethod = [];
    private readonly List<UsedBody> _used = [];

    internal void Add(string assembly, MethodBodyRow row, OwnedType? type)
    {
        UsedBody body = Of(assembly, row);
        if (type is not null) renames?.Check(row, type);
        if (type is not null && !body.Types.Contains(type)) body.Types.Add(type);
    }

    /// <summary>Counts one more method that is suspended at this state of this machine.</summary>
    internal void Suspended(string assembly, MethodBodyRow row, OwnedType machine, int state) =>
        Of(assembly, row).Count(machine.Role, state);

    internal void Waiting(string assembly, MethodBodyRow row, OwnedType machine, int state, string forWhat) =>
        Of(assembly, row).Waiting(machine.Role, state, forWhat);

    internal void CopyTo(ref CborWriter to)
    {
        to.WriteArrayHeader(_used.Count);
        foreach (UsedBody body in _used) body.Write(ref to);
    }

    private UsedBody Of(string assembly, MethodBodyRow row)
    {
        if (_byMethod.TryGetValue((assembly, row.Id), out UsedBody? known)) return known;
        var body = new UsedBody(renames?.AssemblyOf(row.Id, assembly) ?? assembly,
            renames is null ? row : row with { Id = renames.IdOf(row) });
        _byMethod.Add((assembly, row.Id), body);
        _used.Add(body);
        return body;
    }

    private sealed class UsedBody(string assembly, MethodBodyRow row)
    {
        private readonly SortedDictionary<(string Role, int State), (int Count, string For)> _sites = [];

        internal List<OwnedType> Types { get; } = [];

        internal void Count(string role, int state) =>
            _sites[(role, state)] = _sites.TryGetValue((role, state), out var site) ? (site.Count + 1, site.For) : (1, "");

        internal void Waiting(string role, int state, string forWhat)
        {
            if (_sites.TryGetValue((role, state), out var site) && site.For.Length == 0) _sites[(role, state)] = (site.Count, forWhat);
        }

        internal void Write(ref CborWriter to)
        {
            to.WriteArrayHeader(6);
            to.WriteString(assembly);
            to.WriteString(row.Id);
            to.WriteString(row.Il);
            to.WriteString(row.SourceHash);
            to.WriteArrayHeader(Types.Count);
            foreach (OwnedType type in Types)
            {
                to.WriteArrayHeader(3);
                to.WriteString(type.Role);
                to.WriteUInt64((ulong)type.Sites.Count);
                to.WriteArrayHeader(type.Layout.Count);
                foreach (string field in type.Layout) to.WriteString(field);
            }
            to.WriteArrayHeader(_sites.Count);
            foreach (((string role, int state), (int count, string forWhat)) in _sites)
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

/// <summary>
/// Renames the methods of a class that another class replaces: their ids in the image are those of the methods of the new class in which
/// they go on.
/// </summary>
internal interface IMethodRenames
{
    string IdOf(MethodBodyRow row);

    string AssemblyOf(string id, string assembly);

    /// <summary>Refuses a method that cannot go on in the new class, whatever its body is.</summary>
    void Check(MethodBodyRow row, OwnedType made);
}
