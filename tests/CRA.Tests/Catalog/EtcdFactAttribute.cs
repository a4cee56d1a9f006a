using Ambrosia.TestKit;

namespace CRA.Tests;

/// <summary>A test that needs an etcd; skipped, with the reason, where none is installed.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class EtcdFactAttribute : FactAttribute
{
    public EtcdFactAttribute() => Skip = EtcdServers.WhyNot;
}

/// <summary>A theory that needs an etcd; skipped, with the reason, where none is installed.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class EtcdTheoryAttribute : TheoryAttribute
{
    public EtcdTheoryAttribute() => Skip = EtcdServers.WhyNot;
}
