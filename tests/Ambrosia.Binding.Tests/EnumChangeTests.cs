using System.Text;
using static Ambrosia.Binding.Tests.Images.GraphBytes;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Enums whose members another build has changed. The older build's enum has a name of the same length, which the image's bytes are given;
/// so one process holds both.
/// </summary>
public sealed class EnumChangeTests
{
    [Fact]
    public void Enum_MembersRenumbered_KeepTheirNames()
    {
        object[] read = Through<object[]>("StatusV1", "StatusR2", new object[]
        {
            StatusV1.Rejected, new[] { StatusV1.New, StatusV1.Paid, StatusV1.Rejected }, new List<StatusV1> { StatusV1.Paid },
            new Dictionary<StatusV1, int> { [StatusV1.Paid] = 5 }, new (StatusV1, int)[] { (StatusV1.Rejected, 1) },
            new StatusV1?[] { null, StatusV1.Paid }, new SortedSet<StatusV1> { StatusV1.Paid, StatusV1.Rejected },
            new StatusV1[,] { { StatusV1.Paid } }, Tuple.Create(StatusV1.Paid),
        });
        Assert.Equal(StatusR2.Rejected, read[0]);
        Assert.Equal([StatusR2.New, StatusR2.Paid, StatusR2.Rejected], (StatusR2[])read[1]);
        Assert.Equal([StatusR2.Paid], (List<StatusR2>)read[2]);
        Assert.Equal(5, ((Dictionary<StatusR2, int>)read[3])[StatusR2.Paid]);
        Assert.Equal([(StatusR2.Rejected, 1)], ((StatusR2, int)[])read[4]);
        Assert.Equal([null, StatusR2.Paid], (StatusR2?[])read[5]);
        Assert.Equal([StatusR2.Rejected, StatusR2.Paid], (SortedSet<StatusR2>)read[6]);
        Assert.Equal(StatusR2.Paid, ((StatusR2[,])read[7])[0, 0]);
        Assert.Equal(StatusR2.Paid, ((Tuple<StatusR2>)read[8]).Item1);
    }

    [Fact]
    public void Enum_MemberRenamed_IsKnownByItsFormerName() => Assert.Equal(
        [StatusN2.Open, StatusN2.Paid, StatusN2.Refused], Through<StatusN2[]>(
            "StatusV1", "StatusN2", new[] { StatusV1.New, StatusV1.Paid, StatusV1.Rejected }));

    [Fact]
    public void Enum_MemberGone_KeepsItsNumber() => Assert.Equal(
        [StatusG2.New, (StatusG2)2], Through<StatusG2[]>("StatusV1", "StatusG2", new[] { StatusV1.New, StatusV1.Rejected }));

    [Theory]
    [InlineData("StatusT2", "StatusT2 with Rejected = 2: this build does not have it, and the number is Late now")]
    [InlineData("StatusX2", "StatusX2 with Paid = 1: it has exchanged its name with Rejected")]
    [InlineData("StatusC2", "StatusC2 with Paid = 1: Settled and Done both say that they were it")]
    public void Enum_MemberWhoseMeaningIsNotKnown_IsRefused(string now, string why)
    {
        InvalidDataException refused = Assert.Throws<InvalidDataException>(() => Through<object>("StatusV1", now, new[] { StatusV1.New }));
        Assert.StartsWith($"The image holds the enum Ambrosia.Binding.Tests.{why}", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Enum_NumberWithoutAName_StaysUnlessAMemberHasMovedThere()
    {
        Assert.Equal([(StatusR2)7], Through<StatusR2[]>("StatusV1", "StatusR2", new[] { (StatusV1)7 }));
        InvalidDataException refused = Assert.Throws<InvalidDataException>(
            () => Through<object>("StatusV1", "StatusM2", new[] { (StatusV1)3 }));
        Assert.Contains("the number 3 of Ambrosia.Binding.Tests.StatusM2, which had no name there and is Paid now", refused.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Enum_Flags_AreTranslatedBitByBit() => Assert.Equal(
        [RightsR2.None, RightsR2.Read | RightsR2.Write, RightsR2.Read | RightsR2.Write | RightsR2.Erase, RightsR2.Erase | (RightsR2)64],
        Through<RightsR2[]>("RightsV1", "RightsR2",
            new[] { RightsV1.None, RightsV1.Both, RightsV1.Both | RightsV1.Erase, RightsV1.Erase | (RightsV1)64 }));

    [Fact]
    public void Enum_OfANarrowerType_RefusesWhatDoesNotFit()
    {
        Assert.Equal([WidthsR2.Small], Through<WidthsR2[]>("WidthsV1", "WidthsR2", new[] { WidthsV1.Small }));
        InvalidDataException refused = Assert.Throws<InvalidDataException>(
            () => Through<object>("WidthsV1", "WidthsR2", new[] { WidthsV1.Large }));
        Assert.Contains("the number 300 of Ambrosia.Binding.Tests.WidthsR2, which is too large", refused.Message, StringComparison.Ordinal);
    }

    private static T Through<T>(string was, string now, object graph)
    {
        Assert.Equal(was.Length, now.Length);
        string text = Encoding.Latin1.GetString(Written(graph));
        Assert.Contains(was, text, StringComparison.Ordinal);
        return (T)Read(Encoding.Latin1.GetBytes(text.Replace(was, now, StringComparison.Ordinal)));
    }
}

public enum StatusV1 { New, Paid, Rejected }

public enum StatusR2 { New, Rejected, Paid }

public enum StatusN2
{
    Paid,
    [FormerlyNamed("New")] Open,
    [FormerlyNamed("Rejected")] Refused,
}

public enum StatusG2 { New, Paid }

public enum StatusT2 { New, Paid, Late }

public enum StatusX2
{
    New,
    [FormerlyNamed("Paid")] Rejected,
    [FormerlyNamed("Rejected")] Paid,
}

public enum StatusC2
{
    New,
    [FormerlyNamed("Paid")] Settled,
#pragma warning disable AMB135 // as the compiler lets it pass that does not know the rule
    [FormerlyNamed("Paid")] Done,
#pragma warning restore AMB135
}

public enum StatusM2 { New, Rejected = 2, Paid = 3 }

[Flags]
public enum RightsV1 { None = 0, Read = 1, Write = 2, Both = 3, Erase = 4 }

[Flags]
public enum RightsR2 { None = 0, Erase = 1, Read = 2, Write = 4, Both = 6 }

public enum WidthsV1 { Small = 1, Large = 300 }

public enum WidthsR2 : byte { Small = 1 }
