namespace Ambrosia.EndToEnd.Tests;

/// <summary>As <see cref="MountFactAttribute"/>, with several sets of data.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class MountTheoryAttribute : TheoryAttribute
{
    public MountTheoryAttribute()
    {
        if (MountFactAttribute.Missing is not null) Skip = MountFactAttribute.Missing;
    }
}
