namespace Ambrosia.Tools.Tests;

/// <summary>Holds a contract manifest that has every kind of argument.</summary>
internal static class Manifest
{
    public const uint Everything = 1, Raw = 2, Answer = 3, Two = 4;

    public const string Json = """
        {"format":1,"assembly":"Shop","contracts":[{"name":"IShop","namespace":"Shop","methods":[
          {"name":"Everything","id":1,"parameters":[
            {"name":"flag","type":"bool"},{"name":"small","type":"int8"},{"name":"big","type":"uint64"},{"name":"real","type":"float64"},
            {"name":"price","type":"decimal"},{"name":"letter","type":"char"},{"name":"name","type":"text"},{"name":"nick","type":"text?"},
            {"name":"bytes","type":"bytes"},{"name":"when","type":"datetime"},{"name":"there","type":"datetimeoffset"},{"name":"span","type":"timespan"},{"name":"day","type":"date"},{"name":"at","type":"time"},
            {"name":"id","type":"guid"},{"name":"colour","type":"enum<Shop.Colour,int32>"},{"name":"list","type":"list<int32>"},
            {"name":"map","type":"map<text,list<bool>>"},{"name":"pair","type":"tuple<int32,text?>"},{"name":"order","type":"data<Shop.Order>"},
            {"name":"maybe","type":"int32?","optional":true,"default":"f6"}]},
          {"name":"Raw","id":2,"raw":true,"parameters":[{"name":"content","type":"bytes"}]},
          {"name":"Answer","id":3,"parameters":[],"result":"data<Shop.Order>?"},
          {"name":"Two","id":4,"impulse":true,"parameters":[{"name":"first","type":"int32"},{"name":"second","type":"text"}],"result":"bytes","rawResult":true}]}],
         "data":[{"name":"Shop.Order","fields":[{"name":"Count","number":1,"type":"int32"},{"name":"Name","type":"text"},{"name":"Inner","type":"data<Shop.Order>?"}]}],
         "enums":[{"name":"Shop.Colour","type":"int32","members":[{"name":"Red","value":1},{"name":"Blue","value":2},{"name":"Navy","value":2}]}],
         "unions":[{"name":"Shop.IPayment","cases":[{"number":4,"type":"data<Shop.Order>"}]}]}
        """;

    public static string Write(TemporaryDirectory to)
    {
        string path = to.Of("Shop.contract.json");
        File.WriteAllText(path, Json);
        return path;
    }

    public static void EverythingArguments(ref Ambrosia.Protocol.CborWriter to)
    {
        to.WriteBoolean(true);
        to.WriteInt64(-5);
        to.WriteUInt64(ulong.MaxValue);
        to.WriteDouble(1.5);
        to.WriteDecimal(12.50m);
        to.WriteChar('x');
        to.WriteString("Ada");
        to.WriteNull();
        to.WriteBytes([1, 2]);
        to.WriteDateTime(new DateTime(2026, 11, 21, 7, 0, 0, DateTimeKind.Utc));
        to.WriteDateTimeOffset(new DateTimeOffset(2026, 11, 21, 7, 0, 0, TimeSpan.FromHours(1)));
        to.WriteTimeSpan(TimeSpan.FromSeconds(90));
        to.WriteDateOnly(new DateOnly(2026, 11, 21));
        to.WriteTimeOnly(new TimeOnly(7, 30));
        to.WriteGuid(Guid.Parse("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"));
        to.WriteInt64(2);
        to.WriteArrayHeader(2); to.WriteInt64(1); to.WriteInt64(2);
        to.WriteArrayHeader(1); to.WriteArrayHeader(2); to.WriteString("k"); to.WriteArrayHeader(1); to.WriteBoolean(false);
        to.WriteArrayHeader(2); to.WriteInt64(7); to.WriteNull();
        to.WriteMapHeader(
            3); to.WriteUInt64(
                1); to.WriteInt64(3); to.WriteUInt64(99); to.WriteBoolean(true); to.WriteString("Name"); to.WriteString("tea");
    }

    public const string EverythingText =
        "flag: true, small: -5, big: 18446744073709551615, real: 1.5, price: 12.50, letter: 'x', name: \"Ada\", nick: null, bytes: h'0102', "
        + "when: 2026-11-21T07:00:00.0000000Z, there: 2026-11-21T07:00:00.0000000+01:00, span: 00:01:30, day: 2026-11-21, at: 07:30:00.0000000, id: 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0, "
        + "colour: Colour.Blue, list: [1, 2], map: {\"k\": [false]}, pair: (7, null), order: {Count: 3, 99: true, Name: \"tea\"}";
}
