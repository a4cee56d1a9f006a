using System.Runtime.CompilerServices;
using Ambrosia.Protocol;
using Ambrosia.State;

namespace Ambrosia.Proxies;

/// <summary>
/// Writes a proxy as the instance that it speaks to. A restored one gets the destination of the session that restores it.
/// </summary>
internal sealed class ProxyShape(Type type) : ObjectShape
{
    internal override TypeKind Kind => TypeKind.Proxy;

    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        InstanceId target = ((ImmortalProxy)instance).Destination.Id;
        to.WriteArrayHeader(2);
        to.WriteUInt64(target.Shard);
        to.WriteString(target.Name);
    }

    internal override object? ValueOf(object instance) => (type, ((ImmortalProxy)instance).Destination.Id);

    internal override bool IsMadeWhole(GraphReader graph) => true;

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        if (from.ReadArrayHeader() != 2) throw new InvalidDataException("The image holds a proxy of another form.");
        ushort shard = from.ReadUInt16();
        var proxy = (ImmortalProxy)RuntimeHelpers.GetUninitializedObject(type);
        graph.Attach(proxy, new InstanceId(from.ReadString(), shard));
        return proxy;
    }
}
