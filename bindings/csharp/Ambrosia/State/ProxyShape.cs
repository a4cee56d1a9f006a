using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A proxy: the instance that it speaks to. It gets the restoring session's destination.</summary>
internal sealed class ProxyShape(Type type) : ObjectShape
{
    internal override void Write(GraphWriter graph, ref CborWriter to, object instance)
    {
        InstanceId target = ((ImmortalProxy)instance).Destination.Id;
        to.WriteArrayHeader(2);
        to.WriteUInt64(target.Shard);
        to.WriteString(target.Name);
    }

    internal override object Allocate(GraphReader graph, ref CborReader from)
    {
        from.ReadArrayHeader();
        ushort shard = from.ReadUInt16();
        var proxy = (ImmortalProxy)RuntimeHelpers.GetUninitializedObject(type);
        proxy.Attach(graph.TargetOf(new InstanceId(from.ReadString(), shard)));
        return proxy;
    }

    internal override void Fill(GraphReader graph, ref CborReader from, object instance)
    {
    }
}
