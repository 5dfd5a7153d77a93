var D,Sr,Rn,Le,Cn,Mt,xr,Ut,Tr,Pn,An,Ms,vt=Symbol.for("pv"),jt={},Ht=[],js=/^m(i|n|o|s|text|space)$/,En=Array.isArray,$n=Ht.slice,qe=Object.assign;function Je(e){
e&&e.parentNode&&e.remove()}function Cr(e,t,r){var a,s,o,i={},c=arguments.length;for(o in t)o=="key"?a=t[o]:o=="ref"&&typeof e!="function"?s=t[o]:i[o]=t[o];return c>
2&&(i.children=c>3?$n.call(arguments,2):r),_t(e,i,a,s,null)}function _t(e,t,r,a,s){var o={type:e,props:t,key:r,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:vt,__v:s||++Sr,__i:-1,__u:0};return!s&&D.vnode&&D.
vnode(o),o}function k(e){return e.children}function nt(e,t){this.props=e,this.context=t,this.__g=0}function Ue(e,t){if(t==null)return e.__&&Ue(e.__,e.__i+1);for(var r;t<e.
__k.length;t++)if((r=e.__k[t])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Ue(e)}function Hs(e){var t,r=e.__v,a=r.__e,s=[],o=[],i=e.__P;
i&&((t=qe({constructor:vt},r)).__v=r.__v+1,D.vnode&&D.vnode(t),On(i,t,r,e.__n,i.namespaceURI,32&r.__u?[a]:null,s,a||Ue(r),32&r.__u,o),t.__v=r.__v,t.__.__k[t.__i]=
t,Or(s,t,o),r.__=r.__e=null,t.__e!=a&&Ar(t))}function Ar(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),
Ar(e)}function wr(e){(8&e.__g||(e.__g|=8,Le.push(e),Mt++))&&Cn==D.debounceRendering||((Cn=D.debounceRendering)||queueMicrotask)(Rr)}function Rr(){try{for(var e,
t=1;Le.length;)Le.length>t&&Le.sort(xr),e=Le.shift(),t=Le.length,8&e.__g&&Hs(e)}finally{(Mt=Le.length)&&(Cn||queueMicrotask)(Rr)}}function Pr(e,t,r,a,s,o,i,c,u,l,d){
var f,h,p,m,w,_,v=a.__k||Ht,b=t.length;for(u=Fs(r,t,v,u,b),f=0;f<b;f++)(p=r.__k[f])!=null&&(h=~p.__i&&v[p.__i]||jt,p.__i=f,_=On(e,p,h,s,o,i,c,u,l,d),m=p.__e,(h.
ref!=p.ref||8&h.__u)&&(h.ref&&Nn(h.ref,null,p,h),p.ref&&d.push(p.ref,p.__c||m,p)),w=w||m,4&p.__u?(u=Er(p,u,e,!h.__v),h.__e&&(h.__e=null)):typeof p.type=="functi\
on"&&_!==void 0?u=_:m&&(u=m.nextSibling),p.__u&=-21);return r.__e=w,u}function Fs(e,t,r,a,s){var o,i,c,u,l,d,f,h,p,m=r.length,w=m,_=0,v=0,b=e.__k=Array(s);for(o=
0;o<s;o++)(i=t[o])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=b[o]=_t(null,i):En(i)?i=b[o]=_t(k,{children:i}):
i.constructor===vt&&i.__b?i=b[o]=_t(i.type,i.props,i.key,i.ref,i.__v):b[o]=i,u=o+_,i.__=e,i.__b=e.__b+1,c=null,~(l=i.__i=Js(i,r,u,w))&&(w--,(c=r[l])&&(c.__u|=2)),
c&&c.__v?(i.__u|=16,l==u-1?_--:l==u+1?_++:l!=u&&(l>u?_--:_++,v=1)):(~l||(s>m?_--:s<m&&_++),typeof i.type!="function"&&(i.__u|=4))):b[o]=null;if(v){for(d=[],f=[],
o=0;o<s;o++)if((i=b[o])&&16&i.__u){for(_=0,h=d.length;_<h;)d[p=_+h>>1]<i.__i?_=p+1:h=p;d[_]=i.__i,f[o]=_+1}for(_=d.length;o--;)f[o]&&(f[o]==_?_--:b[o].__u|=4)}if(w)
for(o=0;o<m;o++)!(c=r[o])||2&c.__u||(c.__e==a&&(a=Ue(c)),Dn(c,c));return a}function Er(e,t,r,a){var s,o,i,c;if(typeof e.type=="function"){if(e.props.__P)return t;
if(s=e.__k)for(o=0;o<s.length;o++)s[o]&&(s[o].__=e,t=Er(s[o],t,r,!1));return t}for(t&&!t.parentNode&&(t=Ue(e))&&!t.parentNode&&(t=null),i=e.__e,c=t;c&&c.nodeType==
8;)c=c.nextSibling;for(i!=c&&(!a&&r.moveBefore&&i.parentNode?r.moveBefore(i,t):r.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(
"$s"););return t}function Js(e,t,r,a){var s,o=e.key,i=e.type,c=t[r],u=c&&!(2&c.__u);if(c===null&&o==null||u&&o==c.key&&i==c.type)return r;if(a>(u?1:0)){for(s=r-1;s>=0;s--)if((c=
t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s;for(s=r+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s}return-1}function kr(e,t,r){r==null&&
(r=""),t[0]=="-"?e.setProperty(t,r):e[t]=r}function Lt(e,t,r,a,s){var o,i;if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof a=="string"&&(e.style.
cssText=a=""),a)for(t in a)r&&t in r||kr(e.style,t);if(r)for(t in r)a&&r[t]==a[t]||kr(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")typeof r!="function"&&(r=null),
typeof a!="function"&&(a=null),(e.__e||(e.__e={}))[t]=r,r&&a||(i=An[t]||(An[t]=qs(t)),(e.__a||(e.__a={}))[t]=Pn,o=t!=(t=t.replace(Tr,"$1")),(t=t.slice(2))[0]<"a"&&
(t=t.toLowerCase()),r?e.addEventListener(t,i,o):e.removeEventListener(t,i,o));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)
try{return void(e[t]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r)}}function qs(e){
return function(t){var r=this.__e;if(r){if(r=r[e],t[Ut]==null)t[Ut]=Pn++;else if(t[Ut]<this.__a[e])return;return r(D.event?D.event(t):t)}}}function On(e,t,r,a,s,o,i,c,u,l){
var d,f,h,p,m,w,_,v,b,S,y,P,B,me,ce,le,Q,H,O=t.type;if(t.constructor!==vt)return null;128&r.__u&&(u=32&r.__u,d=r.__c.__z)&&(t.__u|=u,f=o=[],d.nodeType==8?c=Bt(d,
o):o.push(d),c=o[0]||c),(d=D.__b)&&d(t);e:if(typeof O=="function"){h=i.length;try{if(v=t.props,b=(d=O.prototype)&&d.render,S=(d=O.contextType)&&a[d.__c],y=d?S?S.
props.value:d.__:a,(p=r.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(b?t.__c=p=new O(v,y):(t.__c=p=new nt(v,y),p.constructor=O,p.render=zs),S&&S.sub(p),p.state||(p.state=
{}),p.__n=a,p.__g|=8,p.__h=[],p.__k=[]),b&&(p.__s||(p.__s=p.state),O.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=qe({},p.__s)),qe(p.__s,O.getDerivedStateFromProps(
v,p.__s)))),m=p.props,w=p.state,p.__v=t,r.__c){if(v!==m&&b&&!O.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(v,y),t.__v==r.
__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(v,p.__s,y)===!1){t.__v!=r.__v&&(p.props=v,p.state=p.__s,p.__g&=-9),t.__e=r.__e,t.__k=
r.__k,t.__k.some(function(F){F&&(F.__=t)}),Ht.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),c=Ue(r);break e}p.componentWillUpdate&&p.componentWillUpdate(
v,p.__s,y),b&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(m,w,_)})}else b&&!O.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),
b&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=y,p.props=v,p.__P=e,p.__g&=-5,P=D.__r,B=b?25:0;do p.__g&=-9,P&&P(t),d=p.render(p.props,p.state=
p.__s,p.context);while(8&p.__g&&++B<25);b&&(Ht.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(a=qe({},a,p.getChildContext())),b&&r.__c&&p.getSnapshotBeforeUpdate&&
(_=p.getSnapshotBeforeUpdate(m,w)),me=d&&d.type===k&&d.key==null?d.props.children:d,v.__P&&(d=c,s=(e=v.__P).namespaceURI,u=o=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(F){F&&Dn(F,F)}),r.__k=null),c=r.__k?Ue(r,0):null),c=Pr(e,En(me)?me:[me],t,r,a,s,o,i,c,u,l),v.__P&&(t.__e=null,c=d),t.__u&=-161,f&&f.some(Je),p.__h.
length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(F){if(i.length=h,t.__v=null,u||o)if(F&&F.then){if(t.__u|=128|u,o){for(~(Q=o.indexOf(c||void 0))||(Q=o.length);(H=o[Q-
1])&&H.nodeType==8;)Q--;for(;Q<o.length;Q++)if(H=o[Q])if(o[Q]=null,ce){if(H==le)break}else{if(H.nodeType!=8)break;H.data.startsWith("$s")&&(le=Bt(ce=H))}}if(!ce){
for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;ce=c}(d=Bt(ce=t.__c.__z||(t.__c.__z=ce)))?(t.__e=ce,c=d):t.__e=c,c=c&&c.nextSibling}else o&&o.some(Je);else
t.__e=r.__e;t.__k||(t.__k=r.__k||[]),F&&F.then||$r(t),D.__e(F,t,r)}}else c=t.__e=Ws(r.__e,t,r,a,s,o,i,u,l,e);return(d=D.diffed)&&d(t),c}function Bt(e,t){if(e&&e.
nodeType==8&&e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}
t&&t.push(e)}}function $r(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some($r))}function Or(e,t,r){for(var a=0;a<r.length;)Nn(r[a++],r[a++],r[a++]);D.__c&&D.__c(t,
e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(o){o.call(s)})}catch(o){D.__e(o,s.__v)}})}function Ws(e,t,r,a,s,o,i,c,u,l){var d,f,h,p,m,w,_,v,b=r.props||
jt,S=t.props,y=t.type;if(y=="svg"?s="http://www.w3.org/2000/svg":y=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),o){for(d=
0;d<o.length;d++)if((m=o[d])&&(y?m.localName==y:m.nodeType==3)){e=m,o[d]=null;break}}if(!e){if(v=l.ownerDocument||document,!y)return v.createTextNode(S);e=v.createElementNS(
s,y,S.is?S:l),c&&(D.__m&&D.__m(t,o),c=!1),o=null}if(y){if(l=y=="template"&&e.content||e,o=y=="textarea"&&S.defaultValue!=null?null:o&&$n.call(l.childNodes),!c&&
o)for(b={},d=0;d<e.attributes.length;d++)b[(m=e.attributes[d]).name]=m.value;for(d in b)m=b[d],d=="dangerouslySetInnerHTML"?h=m:d=="children"||d in S||d=="value"&&
"defaultValue"in S||d=="checked"&&"defaultChecked"in S||Lt(e,d,null,m,s);for(d in S)m=S[d],d=="children"?p=m:d=="dangerouslySetInnerHTML"?f=m:d=="value"?w=m:d==
"checked"?_=m:c&&typeof m!="function"||b[d]===m||Lt(e,d,m,b[d],s);f?(c||h&&(f.__html==h.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),t.__k=[]):(h&&(e.
textContent=""),(y=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&js.test(y))&&(s="http://www.w3.org/1999/xhtml"),Pr(l,En(p)?p:[p],t,r,a,s,o,i,o?o[0]:
r.__k&&Ue(r,0),c,u),o&&o.some(Je)),c&&y!="textarea"||(d="value",y=="progress"&&w==null?e.removeAttribute(d):w==null||w===e[d]&&(y!="progress"||w)||Lt(e,d,w,b[d],
s),d="checked",_!=null&&_!=e[d]&&Lt(e,d,_,b[d],s))}else b===S||c&&e.data==S||(e.data=S);return e}function Nn(e,t,r,a){try{typeof e=="function"?t?t.__x=e(t)||1:a&&
(a=a.__c||a.__e)&&(t=a.__x)&&(a.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){D.__e(s,r)}}function Dn(e,t,r){var a,s,o,i;if(D.unmount&&D.unmount(
e),!(a=e.ref)||a.current&&a.current!=e.__e||Nn(a,null,t,e),a=e.__c){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(c){D.__e(c,t)}a.__P=a.__n=null}
if(a=e.__k)for(i=0;i<a.length;i++)a[i]&&Dn(a[i],t,typeof e.type!="function"||r&&!e.props.__P);!r&&(a=e.__c)&&(a=a.__z)&&(s=Bt(a,o=[]))&&(a==e.__e&&o.some(Je),Je(
s),Je(a)),r||Je(e.__e),e.__e=e.__c=e.__=null}function zs(e,t,r){return this.constructor(e,r)}function Nr(e,t){var r,a,s,o;D.__&&D.__(e,t),t.nodeType==9&&(t=t.documentElement),
a=(r=e&&32&e.__u)?null:t.__k,t.__k=_t(k,{children:[e]}),s=[],o=[],On(t,t.__k,a||jt,jt,t.namespaceURI,a?null:t.firstChild?$n.call(t.childNodes):null,s,a?a.__e:t.
firstChild,r,o),Or(s,t.__k,o),t.__k.props.children=null}D={__e:function(e,t,r,a){for(var s,o,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(o=s.constructor)&&o.getDerivedStateFromError)&&s.setState(o.getDerivedStateFromError(
e)),s.componentDidCatch&&(s.componentDidCatch(e,a||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw Mt=0,e}},Sr=0,Rn=function(e){return e!=null&&e.
constructor===vt},nt.prototype.setState=function(e,t){var r=this.__s;r&&r!=this.state||(r=this.__s=qe({},this.state)),typeof e=="function"&&(e=e(qe({},r),this.props)),
e&&(qe(r,e),this.__v&&(t&&this.__k.push(t),wr(this)))},nt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),wr(this))},nt.prototype.render=
k,Le=[],Mt=0,xr=function(e,t){return e.__v.__b-t.__v.__b},Ut=Symbol(),Tr=/(PointerCapture)$|Capture$/i,Pn=0,An={},Ms=0;var We,V,In,Dr,Ln=Object.is,Ft=0,Jr=[],Un=[],Z=D,Ir=Z.__b,Lr=Z.__r,Ur=Z.diffed,Br=Z.__c,Mr=Z.unmount,jr=Z.__;function wt(e,t){Z.__h&&Z.__h(V,e,Ft||t),Ft=0;var r=V.
__H||(V.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function g(e){return Ft=1,Ks(qr,e)}function Ks(e,t,r){var a=wt(We++,2);if(a.t=e,!a.__c&&
(a.__=[r?r(t):qr(void 0,t),function(o){var i=(a.__N||a.__)[0],c=a.t(i,o);Ln(i,c)||(a.__N=[c,a.__[1]],a.__c.setState({}))}],a.__c=V,!V.__f)){V.__f=!0;var s=V.shouldComponentUpdate;
V.shouldComponentUpdate=function(o,i,c){var u=this.__H;if(!u)return!0;var l=!1,d=this.props!=o;if(u.__.some(function(h){h.__N&&(l=!0,Ln(h.__[0],h.__N[0])||(d=!0))}),
s){var f=s.call(this,o,i,c);return l?f||d:f}return!l||d}}return a.__}function G(e,t){var r=wt(We++,3);!Z.__s&&Mn(r.__H,t)&&(r.__P=!0,r.__=e,r.u=t,V.__H.__h.push(
r))}function Jt(e,t){var r=wt(We++,4);!Z.__s&&Mn(r.__H,t)&&(r.__P=!1,r.__=e,r.u=t,V.__h.push(r))}function W(e){return Ft=5,qt(function(){return{current:e}},[])}function qt(e,t){var r=wt(We++,7);return Mn(r.__H,t)&&(r.__=e(),r.__H=t),r.__}function kt(){var e=wt(We++,11);if(!e.__){for(var t=V.__v;!t.__m&&t.__;)t=t.__;var r=t.__m||(t.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function Zs(){var e;
do{for(;e=Un.shift();)try{bt(e)}catch(r){Z.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=Jr.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(bt),t.__h.some(Bn),t.__h=[]}catch(r){
t.__h=[],Z.__e(r,e.__v)}}}while(Un.length)}Z.__b=function(e){V=null,Ir&&Ir(e)},Z.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),jr&&jr(e,t)},Z.__r=function(e){
Lr&&Lr(e),We=0;var t=(V=e.__c).__H;t&&(In==V?V.__h=[]:(t.__h.some(bt),t.__h.some(Bn),We=0),t.__h=[],t.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
In=V},Z.diffed=function(e){Ur&&Ur(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Fr(Jr.push(t)),t.__H.__.some(function(r){r.u&&(r.__H=r.u)})),In=V=null},Z.__c=function(e,t){
t.some(function(r){try{r.__h.some(bt),r.__h=r.__h.filter(function(a){return!a.__||Bn(a)})}catch(a){r.__h=[function(){throw a}]}}),Br&&Br(e,t)},Z.unmount=function(e){
Mr&&Mr(e);var t,r,a=e.__c;a&&a.__H&&(a.__H.__.some(function(s){try{if(s.__P&&s.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}s.__P=r,
Fr(Un.push(s))}else bt(s)}catch(o){t=o}}),a.__H=void 0,t&&Z.__e(t,a.__v))};var Hr=typeof requestAnimationFrame=="function";function Vs(e){var t,r=function(){clearTimeout(
a),Hr&&cancelAnimationFrame(t),setTimeout(e)},a=setTimeout(r,35);Hr&&(t=requestAnimationFrame(r))}function Fr(e){e!=1&&Dr==Z.requestAnimationFrame||((Dr=Z.requestAnimationFrame)||
Vs)(Zs)}function bt(e){var t=V,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),V=t}function Bn(e){var t=V;e.__c=e.__(),V=t}function Mn(e,t){return!e||e.length!=
t.length||t.some(function(r,a){return!Ln(r,e[a])})}function qr(e,t){return typeof t=="function"?t(e):t}var Gs=Symbol.for("preact-signals");function Zt(){if($e>1)$e--;else{var e,t=!1;for((function(){var s=zt;for(zt=void 0;s!==void 0;){var o=s.S;if(o.v===s.v)for(var i=o.
t;i!==void 0;i=i.x)i.i===s.i&&(i.i=o.i);s=s.o}})();xt!==void 0;){var r=xt;for(xt=void 0,Wt++;r!==void 0;){var a=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&zr(r))try{r.
c()}catch(s){t||(e=s,t=!0)}r=a}}if(Wt=0,$e--,t)throw e}}function Hn(e){if($e>0)return e();jn=++Ys,$e++;try{return e()}finally{Zt()}}var St,J=void 0;function Tt(e){
var t=J,r=St;J=void 0,St=void 0;try{return e()}finally{J=t,St=r}}var xt=void 0,$e=0,Wt=0,Ys=0,jn=0,zt=void 0,Kt=0;function Wr(e){if(J!==void 0){var t=e.n;if(t===
void 0||t.t!==J)return t={i:0,S:e,p:J.s,n:void 0,t:J,e:void 0,x:void 0,r:t},J.s!==void 0&&(J.s.n=t),J.s=t,e.n=t,32&J.f&&e.S(t),t;if(t.i===-1)return t.i=0,t.n!==
void 0&&(t.n.p=t.p,t.p!==void 0&&(t.p.n=t.n),t.p=J.s,t.n=void 0,J.s.n=t,J.s=t),t}}function ee(e,t){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
t?.watched,this.Z=t?.unwatched,this.name=t?.name}ee.prototype.brand=Gs;ee.prototype.h=function(){return!0};ee.prototype.S=function(e){var t=this,r=this.t;r!==e&&
e.e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:Tt(function(){var a;(a=t.W)==null||a.call(t)}))};ee.prototype.U=function(e){var t=this;if(this.t!==void 0){var r=e.
e,a=e.x;r!==void 0&&(r.x=a,e.e=void 0),a!==void 0&&(a.e=r,e.x=void 0),e===this.t&&(this.t=a,a===void 0&&Tt(function(){var s;(s=t.Z)==null||s.call(t)}))}};ee.prototype.
subscribe=function(e){var t=this;return _e(function(){var r=t.value;Tt(function(){return e(r)})},{name:"sub"})};ee.prototype.valueOf=function(){return this.value};
ee.prototype.toString=function(){return this.value+""};ee.prototype.toJSON=function(){return this.value};ee.prototype.peek=function(){var e=this;return Tt(function(){
return e.value})};Object.defineProperty(ee.prototype,"value",{get:function(){var e=Wr(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.
v){if(Wt>100)throw new Error("Cycle detected");(function(r){$e!==0&&Wt===0&&r.l!==jn&&(r.l=jn,zt={S:r,v:r.v,i:r.i,o:zt})})(this),this.v=e,this.i++,Kt++,$e++;try{
for(var t=this.t;t!==void 0;t=t.x)t.t.N()}finally{Zt()}}}});function z(e,t){return new ee(e,t)}function zr(e){for(var t=e.s;t!==void 0;t=t.n)if(t.S.i!==t.i||!t.
S.h()||t.S.i!==t.i)return!0;return!1}function Kr(e){for(var t=e.s;t!==void 0;t=t.n){var r=t.S.n;if(r!==void 0&&(t.r=r),t.S.n=t,t.i=-1,t.n===void 0){e.s=t;break}}}
function Zr(e){for(var t=e.s,r=void 0;t!==void 0;){var a=t.p;t.i===-1?(t.S.U(t),a!==void 0&&(a.n=t.n),t.n!==void 0&&(t.n.p=a)):r=t,t.S.n=t.r,t.r!==void 0&&(t.r=
void 0),t=a}e.s=r}function ze(e,t){ee.call(this,void 0,t),this.x=e,this.s=void 0,this.g=Kt-1,this.f=4}ze.prototype=new ee;ze.prototype.h=function(){if(this.f&=-3,
1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===Kt))return!0;if(this.g=Kt,this.f|=1,this.i>0&&!zr(this))return this.f&=-2,!0;var e=J;try{Kr(this),J=this;
var t=this.x();(16&this.f||this.v!==t||this.i===0)&&(this.v=t,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return J=e,Zr(this),this.f&=-2,!0};ze.
prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var t=this.s;t!==void 0;t=t.n)t.S.S(t)}ee.prototype.S.call(this,e)};ze.prototype.U=function(e){if(this.
t!==void 0&&(ee.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var t=this.s;t!==void 0;t=t.n)t.S.U(t)}};ze.prototype.N=function(){if(!(2&this.f)){this.
f|=6;for(var e=this.t;e!==void 0;e=e.x)e.t.N()}};Object.defineProperty(ze.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Wr(
this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.v}});function Ke(e,t){return new ze(e,t)}function Vr(e){var t=e.j;if(e.j=void 0,typeof t==
"function"){$e++;var r=J;J=void 0;try{t()}catch(a){throw e.f&=-2,e.f|=8,Fn(e),a}finally{J=r,Zt()}}}function Fn(e){for(var t=e.s;t!==void 0;t=t.n)t.S.U(t);e.x=void 0,
e.s=void 0,Vr(e)}function Qs(e){if(J!==this)throw new Error("Out-of-order effect");Zr(this),J=e,this.f&=-2;try{8&this.f&&Fn(this)}finally{Zt()}}function rt(e,t){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=t?.name,St&&St.push(this)}rt.prototype.c=function(){var e=this.S();try{if(8&this.f||this.
x===void 0)return;var t=this.x();typeof t=="function"&&(this.j=t)}finally{e()}};rt.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=
1,this.f&=-9,Vr(this),Kr(this),$e++;var e=J;return J=this,Qs.bind(this,e)};rt.prototype.N=function(){2&this.f||(this.f|=2,this.u=xt,xt=this)};rt.prototype.d=function(){
this.f|=8,1&this.f||Fn(this)};rt.prototype.dispose=function(){this.d()};function _e(e,t){var r=new rt(e,t);try{r.c()}catch(s){throw r.d(),s}var a=r.d.bind(r);return a[Symbol.
dispose]=a,a}var Gr,Gt,Vt,Xs=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var Yr=[];_e(function(){Gr=this.N})();function at(e,t){D[e]=t.bind(null,D[e]||function(){})}function Ct(e){if(Vt){var t=Vt;Vt=void 0,t()}Vt=e&&e.S()}function Qr(e){
var t=this,r=e.data,a=to(r);a.name="ReactiveDom",a.value=r;var s=qt(function(){for(var c=t,u=t.__v;u=u.__;)if(u.__c){u.__c.__$f|=4;break}var l=Ke(function(){var p=a.
value.value;return p===0?0:p===!0?"":p||""}),d=Ke(function(){return!Array.isArray(l.value)&&!Rn(l.value)}),f=_e(function(){if(this.N=Xr,d.value){var p=l.value;c.
__v&&c.__v.__e&&c.__v.__e.nodeType===3&&(c.__v.__e.data=p)}}),h=t.__$u.d;return t.__$u.d=function(){f(),h.call(this)},[d,l]},[]),o=s[0],i=s[1];return o.value?i.
peek():i.value}Qr.displayName="ReactiveTextNode";Object.defineProperties(ee.prototype,{constructor:{configurable:!0,value:Cr(k,null).constructor},type:{configurable:!0,
value:Qr},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});at("__b",function(e,t){if(Ct(),
Gt=void 0,typeof t.type=="string"){var r,a=t.props;for(var s in a)if(s!=="children"){var o=a[s];o instanceof ee&&(r||(t.__np=r={}),r[s]=o,a[s]=o.peek())}}e(t)});
at("__r",function(e,t){if(e(t),t.type!==k){Ct();var r,a=t.__c;a&&(a.__$f&=-2,(r=a.__$u)===void 0&&(a.__$u=r=(function(s,o){var i;return _e(function(){i=this},{name:o}),
i.c=s,i})((function(s){return function(){var o;Xs&&((o=this.y)==null||o.call(this)),s.__$f|=1,s.setState({})}})(a),typeof t.type=="function"?t.type.displayName||
t.type.name:""))),Gt=a,Ct(r)}});at("__e",function(e,t,r,a){Ct(),Gt=void 0,e(t,r,a)});at("diffed",function(e,t){Ct(),Gt=void 0;var r;if(typeof t.type=="string"&&
(r=t.__e)){var a=t.__np,s=t.props,o=r.U;if(o)for(var i in o){var c=o[i];c===void 0||a&&i in a||(c.d(),o[i]=void 0)}if(a){o||(o={},r.U=o);for(var u in a){var l=o[u],
d=a[u];l===void 0?(l=eo(r,u,d,s),o[u]=l):l.o(d,s)}}}e(t)});function eo(e,t,r,a){var s=t in e&&e.ownerSVGElement===void 0,o=z(r);return{o:function(i,c){o.value=i,
a=c},d:_e(function(){this.N=Xr;var i=o.value.value;a[t]!==i&&(a[t]=i,s?e[t]=i:i!=null&&(i!==!1||t[4]==="-")?e.setAttribute(t,i):e.removeAttribute(t))})}}at("unm\
ount",function(e,t){if(typeof t.type=="string"){var r=t.__e;if(r){var a=r.U;if(a){r.U=void 0;for(var s in a){var o=a[s];o&&o.d()}}}var i=t.__np;if(i){var c=t.props;
for(var u in i)c[u]=i[u]}t.__np=void 0}else{var l=t.__c;if(l){l.__$f|=8;var d=l.__$u;d&&(l.__$u=void 0,d.d())}}e(t)});at("__h",function(e,t,r,a){a<3&&(t.__$f|=2),
e(t,r,a)});nt.prototype.shouldComponentUpdate=function(e,t){if(this.__R)return!0;var r=this.__$u,a=r&&r.s!==void 0;for(var s in t)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var o=2&this.__$f;if(!(a||o||4&this.__$f)||1&this.__$f)return!0}else if(!(a||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var c in this.props)if(!(c in e))return!0;return!1};function to(e,t){return qt(function(){return z(e,t)},[])}var no=function(e){queueMicrotask(function(){queueMicrotask(e)})};function ro(){Hn(function(){for(var e;e=Yr.shift();)Gr.call(e)})}function Xr(){Yr.push(this)===1&&(D.requestAnimationFrame||no)(ro)}var ea=new URL("../",document.baseURI),Ze=document.querySelector('meta[name="timerbus"]'),de={version:Ze?.content??"",readOnly:Ze?.dataset.readOnly==="true",hidePayloads:Ze?.
dataset.hidePayloads==="true",signIn:{issuer:Ze?.dataset.issuer??"",audience:Ze?.dataset.audience??"",clientID:Ze?.dataset.clientId??"",scopes:Ze?.dataset.scopes??
""}},ge=class extends Error{constructor(r,a,s,o=0){super(s);this.status=r;this.code=a;this.retryAfter=o}status;code;retryAfter};function te(e){return e instanceof
ge?e:new ge(0,"UNEXPECTED",String(e))}var Jn="timerbus-token",Oe=z(sessionStorage.getItem(Jn)??""),xe=z(null),Be=z(null);function st(e){Oe.value=e,e?sessionStorage.
setItem(Jn,e):sessionStorage.removeItem(Jn)}var Yt=z(0);async function qn(e,t){let r=new Headers(t.headers);Oe.value&&r.set("Authorization",`Bearer ${Oe.value}`);
let a;try{a=await fetch(new URL(e,ea),{...t,headers:r,cache:"no-store"})}catch(o){throw t.signal?.aborted?o:new ge(0,"UNREACHABLE","The service cannot be reache\
d: it may be stopped, or the network is down.")}let s=Date.parse(a.headers.get("Date")??"");if(!Number.isNaN(s)){let o=s+500-Date.now();Yt.value=Math.abs(o)>2e3?
o:0}return a}async function Wn(e){let{status:t,statusText:r}=e,a=await e.json().catch(()=>null),s=Number(e.headers.get("Retry-After"))*1e3||0;return new ge(t,String(
a?.error??`HTTP_${t}`),String(a?.message??`The server answered ${t} ${r}.`),s)}function ta(e){let{rawJSON:t}=JSON;return t?JSON.parse(e,(a,s,o)=>typeof s=="numb\
er"&&o?.source!==void 0&&o.source.length>15?t(o.source):s):JSON.parse(e)}function ot(e){if(!e.trim())return{};try{return{value:ta(e)}}catch(t){return{error:`The\
 payload is not JSON: ${t.message}`}}}var Ve;function na(e,t,r){Ve={path:e,body:JSON.stringify(t),answer:Qt(e,t)},Ve.answer.catch(()=>{}),r(),Ve=void 0}async function Qt(e,t,r,a={}){
if(Ve?.path===e&&Ve.body===JSON.stringify(t)){let{answer:o}=Ve;return Ve=void 0,o}let s=await qn("api/v1/"+e,{method:"POST",body:JSON.stringify(t),headers:{"Con\
tent-Type":"application/json",...a},signal:r??null});if(!s.ok){let o=await Wn(s);throw o.status===401&&!r?.aborted&&(Be.value=o.message),o}return s}async function Me(e,t,r){
let a=await Qt(e,t,r),s=await a.text();return{data:s?ta(s):void 0,late:a.status===202}}async function N(e,t,r){return(await Me(e,t,r)).data}async function ra(e){
let t=await qn("readyz",{signal:e}),r=await t.clone().json().catch(()=>null);if(r&&(t.ok?typeof r.status=="string":t.status===503&&r.reasons?.length))return r;throw await Wn(
t)}async function Xt(e){let t=await qn("metrics",{signal:e});if(!t.ok)throw await Wn(t);return t.text()}async function At(){let e=await N("caller/get",{});xe.value=
e,Be.value=null}function ao(e,t){let r=e.split("*").map(a=>a.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(t)}function aa(e,t){
return xe.value?.grants.some(r=>r.verbs.includes(e)&&r.namespaces.some(t))??!1}function ue(e,t){return(e==="read"||!de.readOnly)&&aa(e,r=>ao(r,t))}function it(e){
return(e==="read"||!de.readOnly)&&aa(e,t=>t==="*")}var sa=ea.href.replace(/\/$/,"");function oa(e){let[t="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:t.split("/").filter(Boolean).map(s=>{try{return decodeURIComponent(s)}catch{return s}}),
query:new URLSearchParams(r)}}var ne=z(oa(location.hash));addEventListener("hashchange",()=>{ne.value=oa(location.hash)});function C(e,t={}){let r=Object.entries(
{ns:T.value,...t}).filter(([,a])=>a);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function pe(e,t={}){location.hash=C(e,t)}function ve(e){
let t=Object.fromEntries(ne.value.query);delete t.cursor,pe(ne.value.path,{...t,...e})}var ia="timerbus-namespace",T=Ke(()=>ne.value.query.get("ns")||localStorage.
getItem(ia)||"default");_e(()=>{localStorage.setItem(ia,T.value)});var en=z([]),zn=z(!1);async function tn(e){let t=[],r;for(;;){let a=await N("namespaces/list",
{limit:200,cursor:r},e);if(t=t.concat(a.namespaces),r=a.nextCursor,!r||t.length>=1e3)break}return e.aborted||(en.value=t,zn.value=r!==void 0),t}function nn(e,t){
let r=z(localStorage.getItem(e)??t);return _e(()=>{localStorage.setItem(e,r.value)}),r}var ke=nn("timerbus-zone","local"),je=nn("timerbus-theme","auto"),Te=nn("\
timerbus-live","on"),rn=nn("timerbus-shortcuts","on");_e(()=>{je.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=
je.value});var Ne=z(null),ca=z(Date.now());setInterval(()=>{document.hidden||(ca.value=Date.now())},1e3);var ua=Ke(()=>ca.value+Yt.value),Rt=()=>Date.now()+Yt.value,
ct=z([]),so=1;function be(e,t="ok"){let r=so++;ct.value=[...ct.value,{id:r,text:e,kind:t}],t==="ok"&&setTimeout(()=>{Kn(r)},1e4)}function Kn(e){ct.value=ct.value.
filter(t=>t.id!==e)}var Zn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,la=new Map;function oo(){return ke.value==="utc"?"UTC":ke.value==="schedule"&&Ne.value?Ne.value:"loc\
al"}var Pt=e=>String(e).padStart(2,"0");function ye(e,t=oo()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(t){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${Pt(r.getMonth()+1)}-${Pt(r.getDate())} ${Pt(r.getHours())}:${Pt(r.getMinutes())}\
:${Pt(r.getSeconds())}`;default:{let a=la.get(t);return a||(a=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:t}),la.set(t,a)),a.
format(r)}}}function da(e){return ye(e).slice(11,16)}function He(e){let t=Math.abs(e);if(t<1)return t===0?"0 ms":"< 1 ms";if(t<1e3)return`${Math.round(t)} ms`;let r=t/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}var Ge=e=>e===
void 0?"\u2013":He(e*1e3);function pa(e,t){let r=(typeof e=="number"?e:Date.parse(e))-t,a=Math.abs(r);if(a<500)return"now";let s=a<12e4?`${Math.round(a/1e3)} s`:
He(a);return r>0?`in ${s}`:`${s} ago`}var R=e=>String(Number(e.toFixed(3))).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g,",");function ae(e,t){return`${R(e)} ${t}${e===
1?"":"s"}`}var io={ns:1e-6,us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Vn(e){let t=0;for(let[,r="0",a="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))
t+=Number(r)*(io[a]??0);return t}function Y(e){if(!e)return"";let[,t]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return t&&Number(t)>24&&Number(t)%24===0?`${Number(t)/24}d`:
e.replace(/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function an(e){return[e.rate&&`${R(e.rate.count)} per ${Y(e.rate.per)}`,e.concurrency&&`${R(e.concurrency)}\
 at a time`].filter(Boolean).join(", ")}var Ce=()=>ke.value==="utc"?"UTC":"local";function Ae(e){return e?ye(e,ke.value==="utc"?"UTC":"local").replace(" ","T"):
""}function se(e){if(!e)return;let t=new Date(ke.value==="utc"?`${e}Z`:e);return Number.isNaN(t.getTime())?void 0:t.toISOString()}function sn(e){let[,t]=/^[^/?#]*\/\/([^/?#]*)/.
exec(e)??[];return t===void 0?e:t.slice(t.lastIndexOf("@")+1).toLowerCase()}function on(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}\
'`}var co=Symbol.for("pv"),uo=0;function n(e,t,r,a,s,o){t||(t={});var i,c,u=t;if("ref"in u&&typeof e!="function")for(c in u={},t)c=="ref"?i=t[c]:u[c]=t[c];var l={type:e,props:u,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:co,__v:--uo,__i:-1,__u:0};return(s||o)&&(l.__source=s,l.__self=o),D.vnode&&D.vnode(l),l}var fa=!1;function q({title:e,crumb:t,actions:r,children:a}){let s=W(null);return G(()=>{document.title=`${e} \xB7 Timerbus`},[e]),G(()=>{fa&&(s.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),fa=!0},[]),n(k,{children:[n("div",{class:"page-head",children:[n("div",{class:"page-title",children:[t&&n("div",{class:"crumb",
children:t}),n("h1",{tabIndex:-1,ref:s,children:e})]}),r&&n("div",{class:"actions",children:r})]}),a]})}function $({title:e,aside:t,children:r,wide:a,flush:s}){
let o=kt();return n("section",{class:`card${a?" wide":""}${s?" flush":""}`,"aria-labelledby":e?o:void 0,children:[e&&n("div",{class:"card-head",children:[n("h2",
{id:o,children:e}),t]}),r]})}function oe({kind:e,children:t}){return n("span",{class:`badge ${e}`,children:t})}var De=({status:e})=>n(oe,{kind:e,children:e});function I({
at:e,only:t}){if(!e)return n("span",{class:"muted",children:"\u2013"});let r=ye(e);if(t==="absolute")return n("time",{dateTime:e,title:e,children:r});let a=pa(e,
ua.value);return t==="relative"?n("time",{dateTime:e,title:r,children:a}):n("time",{dateTime:e,title:e,class:"time",children:[n("span",{children:r})," ",n("span",
{class:"muted",children:a})]})}function x({kind:e="",...t}){return n("button",{type:"button",...t,class:`button ${e}`})}function Gn({text:e,label:t="Copy"}){let[
r,a]=g(!1);G(()=>{if(!r)return;let o=setTimeout(()=>{a(!1)},2e3);return()=>{clearTimeout(o)}},[r]);let s=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let o=document.createElement("textarea");o.value=e,document.body.append(o),o.select();let i=document.execCommand("copy");if(o.remove(),!i)return}a(!0)};return n(
x,{kind:"small",onClick:()=>{s()},children:r?"Copied":t})}function Et({text:e,label:t}){return n("div",{class:"command",children:[n("pre",{tabIndex:0,"aria-labe\
l":t,children:n("code",{children:e})}),n(Gn,{text:e})]})}function M({title:e,children:t,command:r}){return n("div",{class:"empty",children:[n("p",{class:"empty-\
title",children:e}),t&&n("p",{class:"muted",children:t}),r&&n(Et,{text:r,label:"Command"})]})}var lo={UNREACHABLE:"Not reachable",INCOMPLETE:"Not sent",401:"Not\
 signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",429:"Too many requests",503:"Not available",504:"Outcome unknown"};function fe({error:e,
again:t}){return n("div",{class:"error",role:"alert",children:[n("div",{children:[n("strong",{children:lo[e.status||e.code]??"Failed"})," ",n("code",{children:[
e.status||""," ",e.code]}),n("p",{children:e.message})]}),t&&n(x,{kind:"small",onClick:t,children:"Try again"})]})}function j({of:e,children:t}){return n(k,{children:[
e.error&&n(fe,{error:e.error,again:e.again}),e.data!==void 0?t(e.data):e.loading&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"\
Loading"})})]})}function Ye({title:e,close:t,children:r}){let a=W(null),s=kt();return G(()=>{let o=a.current,i=document.activeElement;return o?.showModal(),()=>{
o?.close(),i?.focus()}},[]),n("dialog",{ref:a,"aria-labelledby":s,onCancel:o=>{o.preventDefault(),t()},children:[n("div",{class:"dialog-head",children:[n("h2",{
id:s,children:e}),n(x,{kind:"icon","aria-label":"Close",onClick:t,children:"\u2715"})]}),r]})}function ha({label:e,hint:t,children:r,error:a}){let s=kt(),o=t||a?
`${s}-hint`:void 0;return n("div",{class:"field",children:[n("label",{for:s,children:e}),r(s,o),(t||a)&&n("p",{id:o,class:a?"hint bad":"hint",children:a??t})]})}
function E({label:e,value:t,set:r,hint:a,error:s,type:o="text",placeholder:i,required:c,mono:u,step:l}){return n(ha,{label:e,hint:a,error:s,children:(d,f)=>n("i\
nput",{id:d,type:o,value:t,placeholder:i,required:c,step:l,spellcheck:!1,autocomplete:"off",class:u?"mono":"","aria-describedby":f,"aria-invalid":s?!0:void 0,onInput:h=>{
r(h.currentTarget.value)}})})}function ut({label:e,value:t,set:r,hint:a,error:s,rows:o=5}){return n(ha,{label:e,hint:a,error:s,children:(i,c)=>n("textarea",{id:i,
rows:o,value:t,class:"mono",spellcheck:!1,"aria-describedby":c,"aria-invalid":s?!0:void 0,onInput:u=>{r(u.currentTarget.value)}})})}function re({label:e,value:t,
set:r,options:a,hint:s}){let o=kt();return n("div",{class:"field",children:[n("label",{for:o,children:e}),n("select",{id:o,value:t,onChange:i=>{r(i.currentTarget.
value)},children:a.map(([i,c])=>n("option",{value:i,selected:i===t,children:c},i))}),s&&n("p",{class:"hint",children:s})]})}function Ee({of:e}){return n("dl",{class:"\
facts",children:e.filter(([,t])=>t!==void 0&&t!==""&&t!==null).map(([t,r])=>n("div",{children:[n("dt",{children:t}),n("dd",{children:r})]},t))})}function ie({caption:e,
head:t,children:r,stack:a}){return n("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:n("table",{class:a?"stack":"",children:[n("captio\
n",{class:"sr",children:e}),n("thead",{children:n("tr",{children:t.map((s,o)=>n("th",{scope:"col",children:s},o))})}),n("tbody",{children:r})]})})}function lt({
value:e,label:t}){return n(Et,{text:typeof e=="string"?e:JSON.stringify(e,null,2),label:t})}function cn({of:e}){return e&&n("div",{class:"callout",children:["Pa\
used",e.by&&` by ${e.by}`," ",n(I,{at:e.at}),e.note&&`: ${e.note}`]})}function ma({bars:e,label:t,every:r}){let a=po(Math.max(1,...e.map(i=>i.value))),s=1e3/Math.
max(1,e.length),o=i=>100*(1-i/a);return n(k,{children:[n("div",{class:"chart",role:"img","aria-label":t,children:[n("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"\
none","aria-hidden":"true",children:[[0,a/2,a].map(i=>n("line",{x1:"0",x2:"1000",y1:o(i),y2:o(i)},i)),e.map((i,c)=>i.value>0&&n("rect",{x:c*s+s*.08,width:s*.84,
y:Math.min(o(i.value),99),height:Math.max(1,100-o(i.value)),children:n("title",{children:i.title})},c))]}),[0,a/2,a].map(i=>n("span",{class:"y","aria-hidden":"t\
rue",style:{top:`${o(i)}%`},children:un(i)},i)),e.map((i,c)=>c%r===0&&n("span",{class:"x","aria-hidden":"true",style:{left:`${c*s/10}%`},children:i.label},c))]}),
n("details",{class:"as-table",children:[n("summary",{children:"As a table"}),n(ie,{caption:t,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>n("tr",
{children:[n("td",{children:i.label}),n("td",{class:"num",children:i.value})]},i.label+i.title))})]})]})}function po(e){let t=10**Math.floor(Math.log10(e));for(let r of[
1,1.2,1.6,2,3,4,5,6,8,10])if(r*t>=e)return Math.max(2,r*t);return e}function un(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(
+e.toFixed(1))}function fo({values:e}){if(e.length<2)return n("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let t=Math.max(...e,1e-9),r=e.map(
(a,s)=>`${(s/(e.length-1)*100).toFixed(1)},${(22-a/t*20).toFixed(1)}`);return n("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidde\
n":"true",children:[n("polygon",{points:`0,24 ${r.join(" ")} 100,24`,class:"area"}),n("polyline",{points:r.join(" "),class:"line"})]})}function X({label:e,value:t,
hint:r,kind:a="",spark:s,href:o}){let i=n(k,{children:[n("span",{class:"tile-label",children:e}),n("span",{class:"tile-value",children:t}),n("span",{class:"tile\
-hint",children:r}),s&&n(fo,{values:s})]});return o?n("a",{class:`tile ${a}`,href:o,children:i}):n("div",{class:`tile ${a}`,children:i})}function dt(){let e=W(!1);return G(()=>()=>{e.current=!0},[]),e}function he({title:e,children:t,verb:r,danger:a,path:s,body:o,done:i,close:c,after:u}){let[l,d]=g(),
[f,h]=g(!1),p=dt(),m=async()=>{let w=o();if(typeof w=="string"){d(new ge(0,"INCOMPLETE",w));return}h(!0);try{let{late:_}=await Me(s,w);if(be(_?`${i} An earlier \
delivery may have been sent.`:i,_?"warn":"ok"),p.current)return;c(),u()}catch(_){let v=te(_);p.current&&be(`${e}: ${v.message}`,"warn"),d(v),h(!1)}};return n(Ye,
{title:e,close:c,children:n("form",{onSubmit:w=>{w.preventDefault(),m()},children:[t,l&&n(fe,{error:l}),l&&/^(GENERATION|VERSION)_CONFLICT$/.test(l.code)&&n("p",
{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present state."}),n("div",{class:"dialog-foot",children:[n(x,{onClick:c,
children:"Cancel"}),n("button",{type:"submit",class:`button ${a?"danger":"primary"}`,disabled:f,children:f?"Sending\u2026":r})]})]})})}var ga=250;function ln(e,t){
return async(r,a)=>{let s=0,o=0;for(let i;;){let{data:c}=await Me(e,{...t,dryRun:!0,limit:ga,cursor:i},r);if(a(s+=c.applied),o+=c.skipped,i=c.nextCursor,!i)return{
n:s,more:!1,skipped:o}}}}async function Qe(e,t,r,a=()=>{}){let s=0,o=!1;for(let i of t){if(!e.correlationId){let u=await N("timers/count",{...e,status:i},r);s+=
u.count,o||=u.truncated;continue}let c;do{let u=await N("timers/list",{...e,status:i,limit:1e3,cursor:c},r);a(s+=u.timers.length),c=u.nextCursor}while(c)}return{
n:s,more:o}}function pt({action:e,close:t,after:r}){let[a,s]=g("ask"),[o,i]=g(),[c,u]=g(0),[l,d]=g({matched:0,applied:0,late:0,skipped:0,pages:0}),[f,h]=g(),p=W(
new AbortController),m=W(void 0),w=W(!1),_=dt();G(()=>()=>{w.current=!0,p.current.abort()},[]);let v=async()=>{s("counting"),h(void 0),p.current=new AbortController;
try{i(await e.count(p.current.signal,u)),s("counted")}catch(P){if(p.current.signal.aborted)return;h(te(P)),s("ask")}},b=async()=>{s("running"),h(void 0),w.current=
!1;let P=l;try{do{let{data:B}=await Me(e.path,{...e.filter,limit:ga,cursor:m.current});m.current=B.nextCursor,P={matched:P.matched+B.matched,applied:P.applied+B.
applied,late:P.late+(B.late??0),skipped:P.skipped+B.skipped,pages:P.pages+1},d(P)}while(m.current&&!w.current);s(m.current?"cancelled":"ended"),_.current&&be(`${e.
title}: ${m.current?"stopped, ":""}${y(P)}.`,m.current?"warn":"ok")}catch(B){h(te(B)),s("failed"),_.current&&be(`${e.title}: failed, ${y(P)}: ${te(B).message}`,
"warn")}r()},S=o&&!o.more?o.n+(o.skipped??0):void 0,y=P=>`${ae(P.applied,"timer")} ${e.done}`+(P.late?` (an earlier delivery of ${R(P.late)} may have been sent)`:
"")+(P.skipped?`, ${R(P.skipped)} skipped`:"");return n(Ye,{title:e.title,close:t,children:[n("p",{children:e.describe}),a==="counting"&&n("p",{role:"status",children:[
"Counting\u2026 ",c>0&&R(c)]}),a==="counted"&&o&&n("p",{role:"status",class:"callout",children:["Dry run: ",o.more?"at least ":"",ae(o.n,"timer")," would be ",e.
done,o.skipped?`, ${R(o.skipped)} would be skipped, because they were retried before`:"",". Nothing was changed."]}),l.pages>0&&n("div",{class:"progress-wrap",children:[
(a==="running"||S!==void 0)&&n("progress",{max:S||1,value:S===void 0?void 0:o?.skipped===void 0?l.applied:l.matched,"aria-label":"Progress"}),n("p",{role:"statu\
s",children:[a==="running"?"Working: ":a==="ended"?"Finished: ":a==="cancelled"?"Cancelled: ":"Stopped: ",y(l),a==="cancelled"&&". The others were not changed."]})]}),
f&&n(fe,{error:f}),n("div",{class:"dialog-foot",children:[a==="running"?n(x,{kind:"danger",onClick:()=>{w.current=!0},children:"Cancel"}):n(x,{onClick:t,children:"\
Close"}),(a==="ask"||a==="counted")&&n(x,{onClick:()=>{v()},children:"Dry run"}),(a==="ask"||a==="counted")&&n(x,{kind:e.danger?"danger":"primary",onClick:()=>{
b()},children:[e.verb," ",o?o.more?"all":R(o.n):"all"]}),(a==="cancelled"||a==="failed")&&n(x,{kind:"primary",onClick:()=>{b()},children:"Continue"})]})]})}function ho(e){let t=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let a=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!a)continue;let s={};for(let[,o="",i=""]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
s[o]=i.replace(/\\(.)/g,(c,u)=>u==="n"?`
`:u);t.push({name:a[1].slice(9),labels:s,value:Number(a[3].replace("Inf","Infinity"))})}return t}var ft=class{at=performance.now();byName=new Map;constructor(t){
for(let r of ho(t)){let a=this.byName.get(r.name);a?a.push(r):this.byName.set(r.name,[r])}}sum(t,r={}){let a=this.byName.get(t)?.filter(s=>Object.entries(r).every(
([o,i])=>s.labels[o]===i));return a?.length?a.reduce((s,o)=>s+o.value,0):void 0}by(t,r,a={}){let s=new Map;for(let o of this.byName.get(t)??[]){if(!Object.entries(
a).every(([c,u])=>o.labels[c]===u))continue;let i=o.labels[r]??"";s.set(i,(s.get(i)??0)+o.value)}return s}quantile(t,r,a,s={}){if(!a)return;let o=a.by(`${r}_buc\
ket`,"le",s),i=[...this.by(`${r}_bucket`,"le",s)].map(([f,h])=>[f==="+Inf"?1/0:Number(f),h-(o.get(f)??0)]).sort((f,h)=>f[0]-h[0]),c=i.at(-1)?.[1]??0;if(c<=0)return;
let u=t*c,l=0,d=0;for(let[f,h]of i){if(h>=u)return f===1/0?l:l+(f-l)*(h===d?1:(u-d)/(h-d));l=f,d=h}return l}},ya=6e4,ht=class{constructor(t){this.counter=t}counter;scrapes=[];add(t){
let r=t.sum(this.counter)??0;for(this.scrapes=this.scrapes.filter(a=>t.at-a.at<=2*ya&&(a.sum(this.counter)??0)<=r),this.scrapes.push(t);this.scrapes.length>2&&t.
at-this.scrapes[1].at>ya;)this.scrapes.shift();return this.scrapes.length>1?this.scrapes[0]:void 0}};var Xe=e=>e.timerId!==void 0,fn=e=>Xe(e)&&(e.type==="dead"||e.type==="purged"),Yn=new Set;function wa(e){return Yn.add(e),()=>{Yn.delete(e)}}function pn(e){for(let t of Yn)
t(e)}var Ie=z("no"),mo=250,_a=1e3,va=6e4,go=45e3,yo=1e4,dn={namespace:"",id:""};async function*_o(e){let t=e.getReader(),r=new TextDecoder,a=()=>{t.cancel().catch(
()=>{})},s="",o={name:"",data:"",id:""},i=0;try{for(;;){i=window.setTimeout(a,go);let{done:c,value:u}=await t.read();if(clearTimeout(i),c)return;let l=(s+r.decode(
u,{stream:!0})).split(`
`);s=l.pop()??"";for(let d of l)d===""?(yield o,o={name:"",data:"",id:""}):d.startsWith("event: ")?o.name=d.slice(7):d.startsWith("data: ")?o.data=d.slice(6):d.
startsWith("id: ")&&(o.id=d.slice(4))}}finally{clearTimeout(i),a()}}async function vo(e,t){let r=dn.namespace===e&&dn.id!=="",a=new AbortController,s=setTimeout(
()=>{a.abort()},yo),o=await Qt("events/stream",{namespace:e},AbortSignal.any([t,a.signal]),r?{"Last-Event-ID":dn.id}:{}).finally(()=>{clearTimeout(s)});if(o.body)
for await(let{name:i,data:c,id:u}of _o(o.body)){if(t.aborted)return;u&&(dn={namespace:e,id:u}),i==="open"?(Ie.value=JSON.parse(c).complete?"all":"some",r||pn()):
i==="reset"?pn():i==="change"&&pn(JSON.parse(c))}}async function bo(e,t){await ba(mo,t);for(let r=0;!t.aborted;){let a=_a;try{await vo(e,t),r=0}catch(s){if(t.aborted)
return;let o=te(s);if(r=Ie.value==="no"?r+1:0,a=Math.max(o.retryAfter,Math.min(va,_a*2**r)),o.status===403||o.status===404)a=va;else if(o.status>=400&&o.status<
500&&o.status!==429)return}if(t.aborted)return;wo(),await ba(a*(1+Math.random()),t)}}function ba(e,t){return new Promise(r=>{let a=setTimeout(r,e);t.addEventListener(
"abort",()=>{clearTimeout(a),r()},{once:!0})})}function wo(){Ie.value!=="no"&&(Ie.value="no",pn())}var ka=z(!document.hidden);document.addEventListener("visibil\
itychange",()=>{ka.value=!document.hidden});_e(()=>{let e=T.value;if(Te.value!=="on"||!ka.value||Be.value!==null||!xe.value||!ue("read",e))return;let t=new AbortController;
return bo(e,t.signal),()=>{t.abort(),Ie.value="no"}});var ko=6e4,So=2e4,xo=3e3,To=100;function L(e,t,r,a=!1,s){let[o,i]=g({key:""}),[c,u]=g(0),l=W(r);l.current=r;let d=W(s);d.current=s,Jt(()=>{if(e==="")return;let h=new AbortController,
p=0,m=0,w=!1,_=0,v=0,b=!1,S=()=>{clearTimeout(p),Te.value==="on"&&(p=window.setTimeout(()=>{y()},Math.max(0,_-performance.now())))},y=async()=>{if(w||h.signal.aborted||
document.hidden&&p!==0)return;w=!0,b=!1;let le=0,Q=performance.now();try{let H=await l.current(h.signal);if(h.signal.aborted)return;m=0,i({key:e,data:H})}catch(H){
if(h.signal.aborted)return;m++;let O=te(H);if(le=Math.max(O.retryAfter,Math.min(ko,t*2**m)),i(F=>F.key===e&&F.data!==void 0?{key:e,data:F.data,error:O}:{key:e,error:O}),
O.status>=400&&O.status<500&&O.status!==429)return}finally{w=!1;let H=a?To*(performance.now()-Q):0,O=d.current&&Ie.value==="all"&&le===0?Math.max(t,So):t;v=performance.
now()+Math.max(H,Math.min(t,xo),le),_=b?v:performance.now()+Math.max(H,O,le)}S()},P=()=>{document.hidden||w||(a||(_=0),S())},B=le=>{!d.current||le&&!d.current(le)||
(b=!0,!(w||document.hidden)&&(_=Math.min(_,v),S()))};document.addEventListener("visibilitychange",P);let me=wa(B);y();let ce=Te.subscribe(P);return()=>{h.abort(),
clearTimeout(p),ce(),me(),document.removeEventListener("visibilitychange",P)}},[e,t,c]);let f=o.key===e?o:{key:e};return{data:f.data,error:f.error,loading:e!==""&&
f.data===void 0&&f.error===void 0,again:()=>{u(h=>h+1)}}}var Sa=60;function Co(){let e=W(new ht("dispatcher_fires_total")),t=W({fires:[],lateness:[]}),r=it("read"),a=L(r?"metrics":"",3e3,async l=>{let d=new ft(await Xt(
l)),f=e.current.add(d),h=d.sum("dispatcher_fires_total"),p=d.sum("timers_pending"),m=f&&h!==void 0?1e3*Math.max(0,h-(f.sum("dispatcher_fires_total")??0))/(d.at-
f.at):void 0,w=v=>d.quantile(v,"dispatcher_lateness_seconds",f),_={lateness50:w(.5),lateness99:w(.99),fires:m,pending:p,overdue:d.sum("timers_overdue"),dead:d.sum(
"timers_dead"),held:p===void 0?void 0:(d.sum("timers_paused")??0)+(d.sum("timers_parked")??0),oldest:d.sum("timers_oldest_overdue_seconds"),whole:p!==void 0,local:h!==
void 0};return m!==void 0&&(t.current.fires=[...t.current.fires,m].slice(-Sa)),_.lateness99!==void 0&&(t.current.lateness=[...t.current.lateness,_.lateness99].slice(
-Sa)),_}),s=!r||a.data?.whole===!1,o=L(s?`counts/${T.value}`:"",3e4,Ao,!0),i=r?a:{...o,data:o.data&&{...o.data,whole:!1,local:!1}},c=i.data&&{...i.data,...o.data},
u=()=>{a.again(),o.again()};return{poll:{...i,data:c,error:i.error??o.error,again:u},series:t.current,everywhere:r}}async function Ao(e){let t=!1,r=T.value,a=async(l,d)=>{
let{n:f,more:h}=await Qe({namespace:r,dueBefore:d},l,e);return t||=h,f},s=new Date(Rt()).toISOString(),[o,i,c,u]=await Promise.all([a(["scheduled","retrying"]),
a(["scheduled","retrying"],s),a(["dead"]),a(["paused","parked"])]);return{pending:o,overdue:i,dead:c,held:u,least:t}}var hn=(e,t)=>t===void 0?"\u2013":n(k,{children:[
e.least&&n("small",{children:"at least "}),un(t)]});function Ro({of:e}){let t=e.reasons??[],r=e.degraded??[],a=t.length?"dead":r.length?"retrying":"done";return n(
"div",{class:`health ${a}`,role:"status",children:[n(oe,{kind:a,children:t.length?"not ready":r.length?"degraded":"healthy"}),t.length===0&&r.length===0&&n("spa\
n",{children:"Requests are served, and all parts work."}),n("ul",{children:[t.map(s=>n("li",{children:s},s)),r.map(s=>n("li",{children:[n("strong",{children:s.part}),
": ",s.reason,", ",n(I,{at:s.since})]},s.part))]})]})}var Qn=[["24h","24 hours",24,30],["1h","1 hour",1,1],["7d","7 days",168,240]];function Po(){let[e,t]=g("24\
h"),[,r,a,s]=Qn.find(([c])=>c===e)??Qn[0],o=L(`forecast/${T.value}/${e}`,6e4,c=>{let u=s*6e4,l=Math.floor(Rt()/u)*u;return N("timers/forecast",{namespace:T.value,
from:new Date(l).toISOString(),to:new Date(l+a*36e5).toISOString(),bucket:`${s}m`},c)},!0),i=n("div",{class:"segments",role:"group","aria-label":"Range of the f\
orecast",children:Qn.map(([c,u])=>n("button",{type:"button","aria-pressed":e===c,onClick:()=>{t(c)},children:u},c))});return n($,{title:"Forecast",aside:i,wide:!0,
children:n(j,{of:o,children:c=>{let u=Date.parse(c.from),l=c.counts.reduce((f,h)=>f+h,0),d=c.counts.map((f,h)=>{let p=u+h*s*6e4;return{label:a>24?ye(p).slice(5,
16):da(p),value:f,title:`${ye(p)}: ${ae(f,"timer")}`}});return n(k,{children:[n("p",{class:"muted",children:[ae(l,"timer")," of ",T.value," due in the next ",r,
c.truncated&&`, counted until ${ye(c.completeBefore)}`]}),l===0?n(M,{title:"Nothing is due in this time.",command:`timerbus timer create hello --in 1h -n ${T.value}`,
children:"Create a timer:"}):n(ma,{bars:d,every:Math.ceil(d.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}, for each ${s} minutes: ${l} in all`})]})}})})}
function mn(e){return e.callbackUrl?sn(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Eo(){let e=L(`next/${T.value}`,3e3,t=>N("timers/list",{namespace:T.
value,order:"due",limit:8},t),!1,Xe);return n($,{title:"Due next",aside:n("a",{href:C(["timers"]),children:"All timers"}),flush:!0,children:n(j,{of:e,children:({
timers:t})=>t.length===0?n(M,{title:"No timer waits.",command:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${T.value}`,children:"\
Create one, here or with the CLI:"}):n(ie,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:t.map(r=>n("tr",{children:[n("td",
{children:n(I,{at:r.dueAt,only:"relative"})}),n("td",{class:"id",children:n("a",{href:C(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:mn(r)}),
n("td",{children:n(De,{status:r.status})})]},r.uuid))})})})}function $o(){let e=L(`failed/${T.value}`,1e4,t=>N("timers/list",{namespace:T.value,status:"dead",limit:8},
t),!1,fn);return n($,{title:"Dead letters",aside:n("a",{href:C(["dead"]),children:"By reason"}),flush:!0,children:n(j,{of:e,children:({timers:t})=>t.length===0?
n(M,{title:"No timer is dead.",children:"Timers whose retry policy has ended appear here."}):n(ie,{caption:"Some dead timers",head:["Timer","Target","Error"],children:t.
map(r=>n("tr",{children:[n("td",{class:"id",children:n("a",{href:C(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:mn(r)}),n("td",{class:"clip",
title:r.lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function xa(){let e=L("health",5e3,ra),{poll:t,series:r,everywhere:a}=Co(),s=t.data,o=s&&
!s.whole?`namespace ${T.value}`:"cluster";return n(q,{title:"Overview",children:[n(j,{of:e.error?{...e,data:void 0}:e,children:i=>n(Ro,{of:i})}),n(j,{of:t,children:i=>n(
k,{children:[n("div",{class:"tiles",children:[n(X,{label:"Lateness p50",value:Ge(i.lateness50),hint:"start of the attempt",kind:i.lateness50!==void 0&&i.lateness50>
5?"warn":""}),n(X,{label:"Lateness p99",value:Ge(i.lateness99),hint:"last minute",kind:i.lateness99!==void 0&&i.lateness99>10?"warn":"",spark:r.lateness}),n(X,{
label:"Fires",value:i.fires===void 0?"\u2013":`${un(i.fires)}/s`,hint:"last minute",spark:r.fires}),n(X,{label:"Pending",value:hn(i,i.pending),hint:(i.pending??
0)<1e3?"scheduled, retrying":R(i.pending??0),href:C(["timers"])}),n(X,{label:"Backlog",value:hn(i,i.overdue),hint:i.oldest?`oldest ${Ge(i.oldest)}`:"overdue tim\
ers",kind:(i.oldest??0)>10?"warn":""}),n(X,{label:"Dead",value:hn(i,i.dead),hint:i.whole?"can be retried":"in the history",kind:i.dead?"bad":"",href:C(["dead"])}),
n(X,{label:"Paused, parked",value:hn(i,i.held),hint:o,href:C(["timers"],{status:"paused"})})]}),!i.local&&n("p",{class:"callout",children:a?n(k,{children:["This\
 process delivers no timers, so it has no lateness and fires. Dispatchers export them at ",n("code",{children:"/metrics"}),"; the Grafana dashboard shows all pr\
ocesses."]}):n(k,{children:"Lateness and fires need the right to read all namespaces."})})]})}),n("div",{class:"grid",children:[n(Po,{}),n(Eo,{}),n($o,{})]})]})}var Oo=50,No=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];function Xn({timers:e,caption:t}){return n(ie,{caption:t,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(
r=>n("tr",{children:[n("td",{class:"id","data-label":"Timer",children:n("a",{href:C(["timers",r.id]),children:r.id})}),n("td",{"data-label":"Status",children:n(
De,{status:r.status})}),n("td",{"data-label":"Due",children:n(I,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),n("td",{class:"clip","data-labe\
l":"Target",title:r.callbackUrl??r.topic,children:mn(r)}),n("td",{class:"num","data-label":"Attempts",children:r.attempts}),n("td",{class:"clip","data-label":"L\
ast error",title:r.lastError,children:r.lastError??n("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function Ta(){let e=ne.value.query,t=e.
get("status")??"",r=e.get("correlationId")??"",a=e.get("dueFrom")??"",s=e.get("dueBefore")??"",o=e.get("cursor")??"",i=(t===""||t==="scheduled"||t==="retrying")&&
!r,c={namespace:T.value,status:t||void 0,correlationId:r||void 0,dueFrom:a||void 0,dueBefore:s||void 0},u={...c,order:i?"due":"key",limit:Oo,cursor:o||void 0};return{
q:e,status:t,correlationId:r,dueFrom:a,dueBefore:s,cursor:o,ordered:i,filter:c,request:u}}var Ca=()=>Ta().request;function Aa(){let{q:e,status:t,correlationId:r,
dueFrom:a,dueBefore:s,cursor:o,ordered:i,filter:c,request:u}=Ta(),[l,d]=g(""),[f,h]=g(null),p=L(JSON.stringify(u),o?1e4:3e3,y=>N("timers/list",u,y),!1,Xe),m=W(!1);
m.current||=!p.loading;let w=L(r||!m.current?"":JSON.stringify(c),3e4,y=>Qe(c,[c.status],y),!0),_=ue("write",T.value),v=y=>{let P={pause:["Pause timers","Pause",
"paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:["Retry timers","Retry","started again"],purge:["Delete \
from history","Delete","removed from history"]},[B,me,ce]=P[y],{status:le,...Q}=c,H=y==="resume"?Q:c,O=`timers/${y}-matching`,F=y==="resume"?["paused"]:y==="pau\
se"&&!t?["scheduled","retrying"]:[c.status];h({title:B,verb:me,done:ce,path:O,filter:H,danger:y==="delete"||y==="purge",describe:n(k,{children:["All timers of ",
n("strong",{children:T.value})," that this page\u2019s filter selects, not only those of the shown page."]}),count:y==="retry"||y==="purge"?ln(O,H):(Se,It)=>Qe(
c,F,Se,It)})},b=!!(t||r||a||s),S=_&&n(k,{children:[(t===""||t==="scheduled"||t==="retrying")&&n(x,{onClick:()=>{v("pause")},children:"Pause all\u2026"}),(t===""||
t==="paused")&&n(x,{onClick:()=>{v("resume")},children:"Resume all\u2026"}),(t==="dead"||t==="parked")&&n(x,{onClick:()=>{v("retry")},children:"Retry all\u2026"}),
(t==="dead"||t==="done")&&n(x,{onClick:()=>{v("purge")},children:"Delete all\u2026"}),t!=="dead"&&t!=="done"&&b&&n(x,{onClick:()=>{v("delete")},children:"Delete\
 all\u2026"}),n("a",{class:"button primary",href:C(["new","timer"]),children:"Create timer"})]});return n(q,{title:"Timers",actions:S,children:[n("form",{class:"\
filters",role:"search",onSubmit:y=>{y.preventDefault(),l.trim()&&pe(["timers",l.trim()])},children:[n("div",{class:"field",children:[n("label",{for:"open",children:"\
Open by id"}),n("div",{class:"joined",children:[n("input",{id:"open","data-search":!0,type:"search",value:l,placeholder:"order-1842",spellcheck:!1,onInput:y=>{d(
y.currentTarget.value)}}),n("button",{type:"submit",class:"button",children:"Open"})]})]}),n(re,{label:"Status",value:t,options:No,set:y=>{ve({status:y})}}),n(et,
{label:"Correlation id",value:r,set:y=>{ve({correlationId:y})}}),n(et,{label:`Due from (${Ce()})`,type:"datetime-local",value:Ae(a),set:y=>{ve({dueFrom:se(y)})}}),
n(et,{label:"Due before",type:"datetime-local",value:Ae(s),set:y=>{ve({dueBefore:se(y)})}}),(b||o)&&n(x,{kind:"ghost",onClick:()=>{pe(["timers"])},children:"Cle\
ar"})]}),n($,{flush:!0,wide:!0,children:n(j,{of:p,children:y=>n(k,{children:[y.timers.length===0?n(M,{title:b||o?"No timer matches.":"There are no timers in thi\
s namespace.",command:b||o?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${T.value}`,children:b||o?y.nextCursor?"This pag\
e is empty; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):n(Xn,{timers:y.timers,caption:"Timers"}),
n("div",{class:"pager",children:[n("span",{class:"muted",role:"status",children:[w.data&&`${w.data.more?"at least ":""}${R(w.data.n)} in all`,w.error&&`counting\
 failed: ${w.error.message}`,i?"the next due first":"in a fixed order"].filter(Boolean).join(", ")}),n("span",{class:"pager-buttons",children:[o&&n("a",{class:"\
button",href:C(["timers"],{...Object.fromEntries(e),cursor:void 0}),children:"First page"}),y.nextCursor&&n("a",{class:"button",href:C(["timers"],{...Object.fromEntries(
e),cursor:y.nextCursor}),children:"Next page"})]})]})]})})}),f&&n(pt,{action:f,close:()=>{h(null)},after:()=>{p.again(),w.again()}})]})}function et({label:e,value:t,
set:r,type:a}){let[s,o]=g(t),[i,c]=g(t);i!==t&&(c(t),o(t));let u=()=>{s!==t&&r(s)};return n("div",{onFocusOut:u,onKeyDown:l=>{l.key==="Enter"&&(l.preventDefault(),
u())},children:n(E,{label:e,value:s,set:o,type:a,step:a?"1":void 0})})}var Do=5e3,Io=10,Lo=500,Uo=20,$t=100;function Bo(e,t){for(let r of t){let a=r.callbackUrl?sn(r.callbackUrl):"",s=r.lastError??"",o=`${a}\0${s}`,i=r.status==="de\
ad"?r.executeAt:r.dueAt,c=e.groups.get(o);c||(c={host:a,error:s,status:r.lastStatusCode,timers:[],count:0,attempts:0,oldest:i,newest:i},e.groups.set(o,c)),c.count++,
c.attempts=Math.max(c.attempts,r.attempts),c.timers.length<Uo&&c.timers.push(r),i<c.oldest&&(c.oldest=i),i>c.newest&&(c.newest=i)}e.read+=t.length}var er=e=>e.host||
"no URL";async function Ra(e,t,r,a){let s=e?{...e,groups:new Map([...e.groups].map(([c,u])=>[c,{...u,timers:[...u.timers]}]))}:{groups:new Map,read:0,cursor:void 0},
o=s.read+Do,i=0;do{let c=await N("timers/list",{...t,limit:Lo,cursor:s.cursor},r);Bo(s,c.timers),s.cursor=c.nextCursor,r.aborted||a({...s})}while(s.cursor&&s.read<
o&&++i<Io);return s}function Mo({of:e,caption:t}){let[r,a]=g(e.timers);return G(()=>{let s=new AbortController,o=i=>N("timers/get",{namespace:i.namespace,id:i.id},
s.signal).then(c=>i.status!=="dead"?c:c.generation===i.generation?i:{...i,status:c.status},()=>i);return Promise.all(e.timers.map(o)).then(i=>{s.signal.aborted||
a(i)}),()=>{s.abort()}},[e.timers.map(s=>[s.uuid,s.generation,s.attempts]).join()]),n(Xn,{timers:r,caption:`${t} of ${er(e)}`})}function Pa(e,t){let r=JSON.stringify(
e),[a,s]=g(),[o,i]=g(),c=o?.key===r?o:void 0,[u,l]=g(0),d=L(c?"":r,1e4,_=>Ra(void 0,e,_,v=>{d.data||s({key:r,read:v})}),!0,t),f=c?.read??d.data??(a?.key===r?a.read:
void 0),h=W(new AbortController);G(()=>()=>{h.current.abort()},[r]);let p=async _=>{h.current=new AbortController;let{signal:v}=h.current,b=_;i({key:r,read:b,busy:!0});
try{b=await Ra(_,e,v,S=>{b=S,i({key:r,read:b,busy:!0})}),v.aborted||i({key:r,read:b,busy:!1})}catch(S){v.aborted||i({key:r,read:b,busy:!1,error:te(S)})}},m=()=>{
h.current.abort(),i(void 0),l(_=>_+1),d.again()},w=f?[...f.groups].sort(([,_],[,v])=>v.count-_.count):[];return{state:f,groups:w,reading:c?.busy??d.loading,error:c?
c.error:d.error,readMore:p,again:m,turn:u}}function Ea({of:e,kind:t,caption:r,times:a,most:s,actions:o}){let{state:i,groups:c,reading:u,readMore:l,turn:d}=e,[f,
h]=g();return i&&n(k,{children:[n("div",{class:"groups",children:c.slice(0,s).map(([p,m])=>n("section",{class:`card group ${t}`,"aria-label":`${r}, ${er(m)}: ${m.
error}`,children:[n("div",{class:"group-head",children:[n("span",{class:"group-count",children:R(m.count)}),n("div",{class:"group-text",children:[n("div",{children:[
n("strong",{children:er(m)})," ",m.status?n(oe,{kind:t,children:["HTTP ",m.status]}):null]}),n("div",{class:"reason",children:m.error||"no reason"}),n("div",{class:"\
muted",children:[a," ",ye(m.oldest),m.newest!==m.oldest&&` to ${ye(m.newest)}`,t==="retrying"&&`, after ${m.attempts===1?"1 attempt":`up to ${m.attempts} attemp\
ts`}`]})]}),n("div",{class:"actions",children:[o?.(m),n(x,{kind:"small ghost","aria-expanded":f===p,onClick:()=>{h(f===p?void 0:p)},children:[f===p?"Hide":"Show",
" timers"]})]})]}),f===p&&n(Mo,{of:m,caption:r},d),f===p&&m.count>m.timers.length&&n("p",{class:"muted pad",children:["The first ",m.timers.length," of ",R(m.count),
"."]})]},p))}),i.cursor&&n("p",{children:n(x,{disabled:u,onClick:()=>{l(i)},children:u?"Reading\u2026":"Read more"})})]})}function jo({filter:e}){let t=Pa({...e,
status:"retrying"},Xe),[r,a]=g(!1),{state:s,groups:o,reading:i,error:c,again:u}=t,l=r?$t:5;return!c&&(!s||s.read===0&&!s.cursor)?null:n("section",{"aria-labelle\
dby":"retrying",class:"part",children:[n("div",{class:"part-head",children:[n("h2",{id:"retrying",children:"Retrying"}),n("a",{href:C(["timers"],{...e,namespace:void 0,
status:"retrying"}),children:"As a list"})]}),c&&n(fe,{error:c,again:u}),s&&n("p",{class:"muted",role:"status",children:[ae(s.read,"timer")," failed and will be\
 tried again",s.cursor&&(i?", and more":", and maybe more"),". They are not dead.",(e.dueFrom||e.dueBefore)&&" The filter by time selects the next attempt."]}),
n(Ea,{of:t,kind:"retrying",caption:"Retrying timers",times:"next attempt",most:l}),o.length>l&&(r?n("p",{class:"muted",children:["The ",$t," largest groups."]}):
n("p",{children:n(x,{kind:"small",onClick:()=>{a(!0)},children:["Show all ",R(o.length)," groups"]})}))]})}function $a(){let e=ne.value.query,t=e.get("correlati\
onId")??"",r=e.get("dueFrom")??"",a=e.get("dueBefore")??"",s=T.value,o={namespace:s,correlationId:t||void 0,dueFrom:r||void 0,dueBefore:a||void 0},i={...o,status:"\
dead"},c=Pa(i,fn),{state:u,groups:l,reading:d,error:f,again:h}=c,[p,m]=g(null),w=(S,y)=>{let P=y?{...i,callbackHost:y.host,lastError:y.error}:i,B=`timers/${S}-m\
atching`;m({title:S==="retry"?"Retry dead timers":"Delete dead timers",verb:S==="retry"?"Retry":"Delete",done:S==="retry"?"started again":"removed from history",
path:B,filter:P,danger:S==="purge",describe:y?n(k,{children:["All dead timers of ",n("strong",{children:s})," that ",y.host?n(k,{children:["call ",n("strong",{children:y.
host})]}):"have no URL"," and failed with ",n("q",{children:y.error}),"."]}):n(k,{children:["All dead timers of ",n("strong",{children:s})," that this page\u2019s fi\
lter selects, also those that were not read yet."]}),count:ln(B,P)})},_=ue("write",s),v=!!(t||r||a),b=_&&l.length>0&&n(k,{children:[n(x,{kind:"primary",onClick:()=>{
w("retry")},children:"Retry all\u2026"}),n(x,{kind:"danger-ghost",onClick:()=>{w("purge")},children:"Delete all\u2026"})]});return n(q,{title:"Dead letters",actions:b,
children:[n("form",{class:"filters",role:"search",onSubmit:S=>{S.preventDefault()},children:[n(et,{label:"Correlation id",value:t,set:S=>{ve({correlationId:S})}}),
n(et,{label:`Planned from (${Ce()})`,type:"datetime-local",value:Ae(r),set:S=>{ve({dueFrom:se(S)})}}),n(et,{label:"Planned before",type:"datetime-local",value:Ae(
a),set:S=>{ve({dueBefore:se(S)})}}),v&&n(x,{kind:"ghost",onClick:()=>{pe(["dead"])},children:"Clear"})]}),n(jo,{filter:o}),f&&n(fe,{error:f,again:h}),!u&&d&&n("\
div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})}),u&&l.length===0&&!d&&n($,{children:n(M,{title:v?"No dead timer matches\
.":"No timer is dead.",children:v?"Change the filter, or clear it.":"Timers whose retry policy has ended appear here, with their payload, for the dead retention\
 of the namespace."})}),u&&l.length>0&&n("section",{"aria-labelledby":"dead",class:"part",children:[n("div",{class:"part-head",children:n("h2",{id:"dead",children:"\
Dead"})}),n("p",{class:"muted",role:"status",children:[ae(u.read,"dead timer")," in ",ae(l.length,"group"),", by host and reason",u.cursor&&", and more",". A ti\
mer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends."]}),n(Ea,{of:c,kind:"dead",caption:"Dead time\
rs",times:"planned",most:$t,actions:S=>_&&S.error&&n(k,{children:[n(x,{kind:"small",onClick:()=>{w("retry",S)},children:"Retry\u2026"}),n(x,{kind:"small danger-\
ghost",onClick:()=>{w("purge",S)},children:"Delete\u2026"})]})}),l.length>$t&&n("p",{class:"muted",children:["The ",$t," largest groups."]})]}),p&&n(pt,{action:p,
close:()=>{m(null)},after:h})]})}function Oa(e){return e.cron?e.cron:e.every?`every ${Y(e.every)}`:e.rrule?e.rrule:ae(e.dates?.length??0,"date")}function Ho({payload:e,request:t,headers:r,...a}){
return de.hidePayloads?a:{...a,payload:e,request:t,headers:r}}function Na(){let e=ne.value.query.get("status")??"",t=ne.value.query.get("cursor")??"",r=T.value,
a=L(`${r}/${e}/${t}`,5e3,s=>N("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:t||void 0},s),!1,s=>s.scheduleId!==void 0);return n(q,{title:"Sched\
ules",actions:ue("write",r)&&n("a",{class:"button primary",href:C(["new","schedule"]),children:"Create schedule"}),children:[n("form",{class:"filters",role:"sea\
rch",onSubmit:s=>{s.preventDefault()},children:n(re,{label:"Status",value:e,set:s=>{ve({status:s})},options:[["","All"],["active","Active"],["paused","Paused"],
["parked","Parked"]]})}),n($,{flush:!0,wide:!0,children:n(j,{of:a,children:s=>n(k,{children:[s.schedules.length===0?n(M,{title:e?`No schedule is ${e}.`:"There a\
re no schedules in this namespace.",command:e?void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&
"A schedule creates a timer for each of its instants. Create the first one, here or with the CLI:"}):n(ie,{caption:"Schedules",head:["Schedule","Status","Occurs",
"Time zone","Next","Created"],stack:!0,children:s.schedules.map(o=>n("tr",{children:[n("td",{class:"id","data-label":"Schedule",children:n("a",{href:C(["schedul\
es",o.id]),children:o.id})}),n("td",{"data-label":"Status",children:n(De,{status:o.status})}),n("td",{class:"clip","data-label":"Occurs",children:n("code",{children:o.
specs.map(Oa).join("; ")})}),n("td",{"data-label":"Time zone",children:o.timeZone}),n("td",{"data-label":"Next",children:n(I,{at:o.nextAt})}),n("td",{class:"num",
"data-label":"Created",children:o.created})]},o.id))}),(s.nextCursor||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:C(["schedules"],{status:e}),children:"First page"}),s.nextCursor&&n("a",{class:"button",href:C(["schedules"],{status:e,cursor:s.nextCursor}),
children:"Next page"})]})]})]})})})]})}var Fo={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is t\
he first of the two.",second:"The clocks repeat its local time; this is the second of the two."};function tr({of:e,timeZone:t}){return e.length===0?n(M,{title:"\
There are no further occurrences."}):n(ie,{caption:"Next occurrences",head:[`Local time (${t})`,"Instant","Remark"],stack:!0,children:e.map(r=>n("tr",{children:[
n("td",{"data-label":"Local time",children:r.local.replace("T"," ")}),n("td",{"data-label":"Instant",children:n(I,{at:r.at})}),n("td",{"data-label":"Remark",children:r.
remark?n(k,{children:[n(oe,{kind:"retrying",children:"DST"})," ",Fo[r.remark]]}):n("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Da({id:e}){let t=T.
value,r=f=>f.scheduleId===e,a=L(`schedule/${t}/${e}`,3e3,f=>N("schedules/get",{namespace:t,id:e},f),!1,r),s=a.data,o=L(`preview/${t}/${e}/${s?.version??0}`,3e4,
f=>N("schedules/preview",{namespace:t,id:e,limit:10},f)),i=L(`decisions/${t}/${e}`,5e3,f=>N("schedules/history",{namespace:t,id:e,limit:50},f),!1,r),[c,u]=g(null);
G(()=>(Ne.value=s?.timeZone??null,()=>{Ne.value=null}),[s?.timeZone]);let l=()=>{a.again(),i.again(),o.again()},d=s&&ue("write",t)&&s.status!=="ended"&&n(k,{children:[
n(x,{kind:"primary",onClick:()=>{u("trigger")},children:"Trigger\u2026"}),s.status==="active"?n(x,{onClick:()=>{u("pause")},children:"Pause\u2026"}):n(x,{onClick:()=>{
u("resume")},children:"Resume\u2026"}),n(x,{onClick:()=>{u("backfill")},children:"Backfill\u2026"}),n("a",{class:"button",href:C(["schedules",e,"update"]),children:"\
Update"}),n(x,{kind:"danger-ghost",onClick:()=>{u("delete")},children:"Delete\u2026"})]});return n(q,{title:e,crumb:n(k,{children:[n("a",{href:C(["schedules"]),
children:"Schedules"})," / ",t]}),actions:d,children:[n(j,{of:a,children:f=>n("div",{class:"grid",children:[n(Jo,{of:f}),n($,{title:"Timer of an occurrence",children:[
n(lt,{value:Ho(f.timer),label:"Template"}),de.hidePayloads&&n("p",{class:"hint",children:"Its payload, body and headers are hidden by the settings of the server\
."})]}),n($,{title:"Next occurrences",wide:!0,flush:!0,aside:o.data&&n("span",{class:"muted",children:["time zones ",o.data.zoneVersion]}),children:[f.status===
"paused"&&n("p",{class:"callout",children:"The schedule is paused: these occurrences are not created until it is resumed."}),n(j,{of:o,children:h=>n(tr,{of:h.occurrences,
timeZone:h.timeZone})})]}),n($,{title:"Decisions",wide:!0,flush:!0,children:n(j,{of:i,children:({decisions:h})=>h.length===0?n(M,{title:"No occurrence was due y\
et."}):n(ie,{caption:"Decisions about occurrences",head:["Occurrence","Decision","Reason","Timer"],stack:!0,children:h.map(p=>n("tr",{children:[n("td",{"data-la\
bel":"Occurrence",children:n(I,{at:p.at})}),n("td",{"data-label":"Decision",children:n(oe,{kind:p.decision==="created"?"done":p.decision==="skipped"?"retrying":
"paused",children:p.decision})}),n("td",{"data-label":"Reason",children:p.reason??n("span",{class:"muted",children:"\u2013"})}),n("td",{class:"id","data-label":"\
Timer",children:p.timerId?n("a",{href:C(["timers",p.timerId]),children:p.timerId}):n("span",{class:"muted",children:"\u2013"})})]},p.at+p.decidedAt+p.decision))})})})]})}),
s&&c&&n(qo,{of:s,action:c,close:()=>{u(null)},after:l})]})}function Jo({of:e}){return n($,{title:"Definition",aside:n(De,{status:e.status}),children:[n(cn,{of:e.
pause}),n(Ee,{of:[["Occurs",e.specs.map((t,r)=>n("div",{children:n("code",{children:Oa(t)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&n(I,{at:e.nextAt})],
["Created timers",e.created],["From",e.start&&n(I,{at:e.start})],["Until",e.end&&n(I,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?
`${e.catchUp}, within ${Y(e.catchUpWindow)}`:e.catchUp],["Skipped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["V\
ersion",e.version],["Updated",n(I,{at:e.updatedAt})]]})]})}function qo({of:e,action:t,close:r,after:a}){let[s]=g(e),[o,i]=g(""),[c,u]=g("keep"),l={namespace:s.namespace,
id:s.id},d={close:r,after:a};switch(t){case"trigger":return n(he,{...d,title:`Trigger ${s.id}`,verb:"Trigger",path:"schedules/trigger",body:()=>l,done:`${s.id} \
has created an occurrence.`,children:n("p",{children:"Creates an occurrence now, in addition to the planned ones."})});case"pause":return n(he,{...d,title:`Paus\
e ${s.id}`,verb:"Pause",path:"schedules/pause",body:()=>({...l,note:o||void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"A paused schedule creates n\
o occurrences."}),n(E,{label:"Note",value:o,set:i})]});case"resume":return n(he,{...d,title:`Resume ${s.id}`,verb:"Resume",path:"schedules/resume",body:()=>l,done:`${s.
id} is resumed.`,children:n("p",{children:"The schedule continues with its next occurrence."})});case"delete":return n(he,{...d,title:`Delete ${s.id}`,verb:"Del\
ete",danger:!0,path:"schedules/delete",done:`${s.id} is deleted.`,after:()=>{pe(["schedules"])},body:()=>({...l,pending:c,ifVersion:s.version}),children:n(re,{label:"\
Its timers that are not finished",value:c,set:u,options:[["keep","Keep them"],["delete","Delete them"]]})});default:return n(Wo,{of:s,...d})}}function Wo({of:e,
close:t,after:r}){let[a,s]=g(""),[o,i]=g(""),[c,u]=g(),[l,d]=g(""),[f,h]=g(!1),p=dt(),m=W(!1),w=async()=>{let _=se(o),v=se(a);if(!v||!_){u(new ge(0,"INCOMPLETE",
"Enter both times."));return}h(!0),u(void 0),m.current=!1;let b=0,S=0,y=()=>`${ae(b,"occurrence")} created, ${S} existed`;try{do{let P=await N("schedules/backfi\
ll",{namespace:e.namespace,id:e.id,from:v,to:_});b+=P.created,S+=P.kept,v=P.nextFrom,d(`${y()}${v?`, continuing at ${ye(v)}`:""}.`)}while(v&&!m.current&&!p.current);
v?be(`${e.id}: ${y()}. Stopped at ${ye(v)}.`,"warn"):be(`${e.id}: ${y()}.`),!v&&!p.current&&t()}catch(P){let B=te(P);p.current&&be(`Backfill ${e.id}: failed, ${y()}\
: ${B.message}`,"warn"),u(B)}h(!1),r()};return n(Ye,{title:`Backfill ${e.id}`,close:t,children:n("form",{onSubmit:_=>{_.preventDefault(),w()},children:[n("p",{children:"\
Creates the occurrences of a past time range that do not exist. They are delivered at once."}),n(E,{label:`From (${Ce()})`,type:"datetime-local",step:"1",value:a,
set:s,required:!0}),n(E,{label:"Before",type:"datetime-local",step:"1",value:o,set:i,required:!0,hint:"Not in the future."}),l&&n("p",{role:"status",class:"call\
out",children:l}),c&&n(fe,{error:c}),n("div",{class:"dialog-foot",children:[f?n(x,{kind:"danger",onClick:()=>{m.current=!0},children:"Stop"}):n(x,{onClick:t,children:"\
Close"}),n("button",{type:"submit",class:"button primary",disabled:f,children:f?"Working\u2026":"Backfill"})]})]})})}function Ia(e,t){return`curl${Oe.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${sa}/api/v1/${e} \\
  -d ${on(JSON.stringify(t,null,2))}`}function La(e,t){let r=[...t,...T.value==="default"?[]:[["--namespace",T.value]]],a=e.at(-1)??"";return["timerbus "+(a.startsWith(
"-")?[...e.slice(0,-1),`--id=${a}`]:e).map(on).join(" "),...r.filter(([,o])=>o).map(([o,i])=>`  ${o} ${on(i)}`)].join(` \\
`)}function Ua(e){return Object.fromEntries(Object.entries(e).filter(([t,r])=>r!==void 0&&(r!==""||t==="payload")))}function Ba({curl:e,cli:t}){return n($,{title:"\
The same request",children:[n("h3",{children:"curl"}),e?n(Et,{text:e,label:"curl"}):n("p",{class:"hint",children:"Not shown, because it contains what the settin\
gs of the server hide."}),n("h3",{children:"Command line"}),t?n(Et,{text:t,label:"Command line"}):n("p",{class:"hint",children:"The command has one interval at \
most. Use curl."})]})}function Ma({title:e,label:t,id:r,invalid:a,send:s,children:o}){let[i,c]=g(),[u,l]=g(!1),d=dt(),f=ue("write",T.value),h=async()=>{if(a){c(
new ge(0,"INCOMPLETE",a));return}l(!0),c(void 0);try{let p=await s();d.current||pe(p)}catch(p){let m=te(p);d.current&&be(`${t} ${r}: ${m.message}`,"warn"),c(m)}
l(!1)};return n($,{title:e,children:n("form",{onSubmit:p=>{p.preventDefault(),h()},children:[o,i&&n(fe,{error:i}),!f&&n("p",{class:"callout",children:["You have\
 no right to write in ",T.value,"."]}),n("button",{type:"submit",class:"button primary",disabled:u||!f,children:u?"Sending\u2026":t})]})})}var ja=[["fail","Refu\
se (409)"],["replace","Replace it"],["keep","Keep it"]];function Ha({children:e}){return n("details",{class:"more",onInvalidCapture:t=>{t.currentTarget.open=!0},
children:[n("summary",{children:"More settings"}),e]})}function Fa(){let[e,t]=g(""),[r,a]=g("in"),[s,o]=g("15m"),[i,c]=g(""),[u,l]=g(""),[d,f]=g(Zn),[h,p]=g("ht\
tp://127.0.0.1:9000/"),[m,w]=g('{"order": 1842}'),[_,v]=g(""),[b,S]=g(""),[y,P]=g(""),[B,me]=g(""),[ce,le]=g("fail"),Q=ot(m),H=Ua({namespace:T.value,id:e,executeIn:r===
"in"?s:void 0,executeAt:r==="at"?se(i):void 0,executeAtLocal:r==="local"?u.length===16?u+":00":u:void 0,timeZone:r==="local"?d:void 0,callbackUrl:h,payload:Q.value,
retryPolicy:_?{maxAttempts:Number(_)}:void 0,callbackTimeout:b,correlationId:y,flowKey:B,onConflict:ce}),O=[["--in",r==="in"?s:""],["--at",r==="at"?se(i)??"":""],
["--at-local",String(H.executeAtLocal??"")],["--time-zone",String(H.timeZone??"")],["--callback-url",h],["--payload",Q.value===void 0?"":JSON.stringify(Q.value)],
["--max-attempts",_],["--callback-timeout",b],["--correlation-id",y],["--flow-key",B],["--on-conflict",ce]],F=async()=>{let{data:Se,late:It}=await Me("timers/cr\
eate",H);return be(It?`${Se.id} is replaced. An earlier delivery may have been sent.`:`${Se.id} is created.`,It?"warn":"ok"),["timers",Se.id]};return n(q,{title:"\
Create timer",crumb:n(k,{children:[n("a",{href:C(["timers"]),children:"Timers"})," / ",T.value]}),actions:n("a",{class:"button",href:C(["new","schedule"]),children:"\
Schedule instead"}),children:n("div",{class:"grid",children:[n(Ma,{title:"Timer",label:"Create timer",id:e,invalid:Q.error,send:F,children:[n(E,{label:"Id",value:e,
set:t,required:!0,placeholder:"order-1842",mono:!0,hint:"Unique in the namespace."}),n(re,{label:"When",value:r,set:a,options:[["in","After a duration"],["at","\
At an instant"],["local","At a local time"]]}),r==="in"&&n(E,{label:"Duration",value:s,set:o,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&n(E,{label:`\
Time (${Ce()})`,type:"datetime-local",step:"1",value:i,set:c,required:!0}),r==="local"&&n(k,{children:[n(E,{label:"Local time",type:"datetime-local",step:"1",value:u,
set:l,required:!0}),n(E,{label:"Time zone",value:d,set:f,hint:"If the rules of the zone change, the timer moves with them."})]}),n(E,{label:"Callback URL",value:h,
set:p,mono:!0,hint:"Empty: an event on timerbus.fired."}),n(ut,{label:"Payload (JSON)",value:m,set:w,error:Q.error}),n(re,{label:"If the id exists",value:ce,set:le,
options:ja}),n(Ha,{children:[n(E,{label:"Attempts, at most",type:"number",value:_,set:v,hint:"1 to 1000; by default those of the namespace."}),n(E,{label:"Callb\
ack timeout",value:b,set:S,placeholder:"30s"}),n(E,{label:"Correlation id",value:y,set:P}),n(E,{label:"Flow key",value:B,set:me,hint:"Timers with the same key s\
hare a limit of the namespace."})]})]}),n(Ba,{curl:Ia("timers/create",H),cli:La(["timer","create",e||"order-1842"],O)})]})})}var Ja=()=>({kind:"cron",cron:"0 8 \
* * MON-FRI",every:"15m",rrule:"FREQ=MONTHLY;BYDAY=-1FR",specs:'[{"cron": "0 8 * * MON-FRI"}, {"cron": "0 10 * * SAT"}]',timeZone:Zn(),start:"",end:"",gap:"next",
repeated:"first",url:"http://127.0.0.1:9000/",payload:"",overlap:"allow",catchUp:"all",catchUpWindow:"",count:"",pauseOnDead:""});function zo(e){let t=e.specs.length===
1?e.specs[0]:{},r=Object.keys(t).length===1?["cron","every","rrule"].find(i=>t[i]):void 0,{callbackUrl:a,payload:s}=e.timer,o=i=>i===void 0?"":String(i);return{
...Ja(),...t,kind:r??"json",specs:JSON.stringify(e.specs,null,2),timeZone:e.timeZone,start:Ae(e.start),end:Ae(e.end),gap:e.gap,repeated:e.repeated,url:o(a),payload:s===
void 0?"":JSON.stringify(s,null,2),overlap:e.overlap,catchUp:e.catchUp,catchUpWindow:o(e.catchUpWindow),count:o(e.count),pauseOnDead:o(e.pauseOnDead)}}function qa(e){
switch(e.kind){case"cron":return{specs:[{cron:e.cron}]};case"every":return{specs:[{every:e.every}]};case"rrule":return{specs:[{rrule:e.rrule}]};default:{let{value:t}=ot(
e.specs);return Array.isArray(t)&&t.every(a=>typeof a=="object"&&a!==null)?{specs:t}:{error:'The specs are not a JSON array of objects, such as [{"cron": "0 8 *\
 * *"}, {"dates": ["2030-12-24T08:00:00"]}].'}}}}function Ko(e){return e.flatMap(t=>t.cron?[["--cron",t.cron]]:t.rrule?[["--rrule",t.rrule]]:t.every?[["--every",
t.every],["--anchor",t.anchor??""]]:(t.dates??[]).map(r=>["--date",r]))}var Zo=[["timeZone","time-zone"],["start","start",se],["end","end",se],["gap","gap"],["r\
epeated","repeated"],["overlap","overlap"],["catchUp","catch-up"],["catchUpWindow","catch-up-window"],["count","count",Number],["pauseOnDead","pause-on-dead",Number]];
function Vo(e,t,r,a,s,o){let i={},c=[],u=[];(!o||JSON.stringify(t)!==JSON.stringify(qa(o).specs))&&(i.specs=t,c.push(...Ko(t)));for(let[l,d,f=h=>h]of Zo){let h=e[l];
(o?h===o[l]:h===""||!a&&/^(timeZone|gap|repeated)$/.test(l))||(i[l]=h===""?null:f(h),h===""?u.push(d):c.push([`--${d}`,String(i[l])]))}if(!o||e.url!==o.url||e.payload!==
o.payload){let{deliver:l,request:d,...f}=s?.timer??{},h=!!e.url!=!!o?.url;i.timer={...f,deliver:h?void 0:l,request:o?.payload===e.payload||r===void 0?d:void 0,callbackUrl:e.
url||void 0,payload:r},o&&h&&!e.url&&u.push("deliver");for(let[p,m,w]of[["url","callback-url",e.url],["payload","payload",r===void 0?"":JSON.stringify(r)]])o?.[p]!==
e[p]&&(o&&w===""?u.push(m):c.push([`--${m}`,w]))}return c.push(["--clear",u.join()]),{body:i,flags:c}}function Wa({of:e}){let[t]=g(()=>e?zo(e):void 0),[r,a]=g(()=>t??
Ja()),[s,o]=g(e?.id??""),[i,c]=g("fail"),[u,l]=g("keep"),[d,f]=g(),[h,p]=g(),m=O=>F=>{a(Se=>({...Se,[O]:F}))},w=ot(r.payload),{specs:_=[],error:v}=qa(r),b=r.kind!==
"every"||e!==void 0,{body:S,flags:y}=Vo(r,_,w.value,b,e,t),P=e?{namespace:e.namespace,id:e.id,ifVersion:e.version,...S,...u==="keep"?{}:{pending:u}}:Ua({namespace:T.
value,id:s,...S,onConflict:i});y.push(...e?[["--pending",u==="keep"?"":u],["--if-version",String(e.version)]]:[["--on-conflict",i]]);let B={namespace:T.value,specs:_,
exclude:e?.exclude,...b&&{timeZone:r.timeZone||void 0,start:se(r.start),end:se(r.end),gap:r.gap,repeated:r.repeated}},me=v?"":JSON.stringify(B);G(()=>{if(!me){f(
void 0),p(void 0);return}let O=new AbortController,F=setTimeout(()=>{N("schedules/preview",{...JSON.parse(me),limit:6},O.signal).then(Se=>{f(Se),p(void 0)},Se=>{
O.signal.aborted||(p(te(Se)),f(void 0))})},300);return()=>{clearTimeout(F),O.abort()}},[me]);let ce=async()=>{let{data:O}=await Me(e?"schedules/update":"schedul\
es/create",P);return be(`${O.id} is ${e?"updated":"created"}.`),["schedules",O.id]},le=e&&Object.keys(S).length===0?"Nothing has changed.":void 0,Q=e&&de.hidePayloads&&
S.timer!==void 0,H=_.filter(O=>O.every).length;return n("div",{class:"grid",children:[n(Ma,{title:"Schedule",label:e?"Save":"Create schedule",id:s,invalid:v??w.
error??le,send:ce,children:[!e&&n(E,{label:"Id",value:s,set:o,required:!0,placeholder:"daily-report",mono:!0}),n(re,{label:"Occurs",value:r.kind,set:m("kind"),options:[
["cron","Cron expression"],["every","Interval"],["rrule","RRULE"],["json","Several specs, as JSON"]]}),r.kind==="cron"&&n(E,{label:"Cron expression",value:r.cron,
set:m("cron"),mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r.kind==="every"&&n(E,{label:"Interval",value:r.every,
set:m("every"),hint:"At least 1s."}),r.kind==="rrule"&&n(E,{label:"RRULE",value:r.rrule,set:m("rrule"),mono:!0}),r.kind==="json"&&n(ut,{label:"Specs (JSON)",value:r.
specs,set:m("specs"),error:v,hint:"Each has cron, rrule, dates or every."}),b&&n(E,{label:"Time zone",value:r.timeZone,set:m("timeZone")}),n(E,{label:"Callback \
URL",value:r.url,set:m("url"),mono:!0,hint:"Empty: an event on timerbus.fired."}),e&&de.hidePayloads?n("p",{class:"muted",children:"Payloads are hidden by the s\
ettings of the server."}):n(ut,{label:"Payload (JSON)",value:r.payload,set:m("payload"),error:w.error,rows:3}),e?n(re,{label:"Occurrences that are not finished",
value:u,set:l,options:[["keep","Keep them"],["delete","Delete them"]]}):n(re,{label:"If the id exists",value:i,set:c,options:ja}),n(Ha,{children:[n(E,{label:`Fr\
om (${Ce()})`,type:"datetime-local",step:"1",value:r.start,set:m("start")}),n(E,{label:"Until",type:"datetime-local",step:"1",value:r.end,set:m("end")}),b&&n(k,
{children:[n(re,{label:"Skipped local times",value:r.gap,set:m("gap"),options:[["next","Occur after the gap"],["skip","Do not occur"]]}),n(re,{label:"Repeated l\
ocal times",value:r.repeated,set:m("repeated"),options:[["first","Occur once"],["both","Occur twice"]]})]}),n(re,{label:"If the earlier occurrence is not finish\
ed",value:r.overlap,set:m("overlap"),options:[["allow","Create the next one"],["skip","Leave the next one out"],["queue","Create it afterwards"],["cancelOther",
"Delete the earlier one"]]}),n(re,{label:"After an outage",value:r.catchUp,set:m("catchUp"),options:[["all","Create all of the catch-up window"],["last","Create\
 the last one"],["none","Create none"]]}),r.catchUp==="all"&&n(E,{label:"Catch-up window",value:r.catchUpWindow,set:m("catchUpWindow"),placeholder:"1m"}),n(E,{label:"\
Occurrences, at most",type:"number",value:r.count,set:m("count"),hint:"Of the whole schedule, from its creation on."}),n(E,{label:"Pause after dead occurrences \
in a row",type:"number",value:r.pauseOnDead,set:m("pauseOnDead")})]}),e&&n("p",{class:"hint",children:["Only changed fields are sent; empty ones get their defau\
lt. The change applies to occurrences that are not created yet, and fails if the schedule has changed since.",e.exclude&&" Its exclusions are kept."]})]}),n("di\
v",{class:"column",children:[n($,{title:"Next occurrences",flush:!0,children:[h&&n(fe,{error:h}),d&&n(tr,{of:d.occurrences,timeZone:d.timeZone})]}),!le&&n(Ba,{curl:Q?
void 0:Ia(e?"schedules/update":"schedules/create",P),cli:H>1?void 0:La(["schedule",e?"update":"create",s||"daily-report"],y)})]})]})}function za(){return n(q,{title:"\
Create schedule",crumb:n(k,{children:[n("a",{href:C(["schedules"]),children:"Schedules"})," / ",T.value]}),actions:n("a",{class:"button",href:C(["new","timer"]),
children:"Timer instead"}),children:n(Wa,{})})}function Ka({id:e}){let t=T.value,r=L(`schedule/${t}/${e}`,3e3,i=>N("schedules/get",{namespace:t,id:e},i),!1,i=>i.
scheduleId===e),[a,s]=g();!a&&r.data&&s(r.data);let o=a&&r.data&&r.data.version!==a.version?r.data:void 0;return n(q,{title:`Update ${e}`,crumb:n(k,{children:[n(
"a",{href:C(["schedules"]),children:"Schedules"})," / ",n("a",{href:C(["schedules",e]),children:e})," / ",t]}),children:[o&&n("div",{class:"callout",role:"statu\
s",children:[n("p",{children:["The schedule has changed: this form shows version ",a?.version,", the present version is ",o.version,". It cannot be saved."]}),n(
x,{onClick:()=>{s(o)},children:["Show version ",o.version]})]}),r.error&&n(fe,{error:r.error,again:r.again}),a?n(Wa,{of:a},a.version):r.loading&&n("div",{class:"\
skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})})]})}function Za(){let e=L("namespaces",15e3,tn),[t,r]=g(!1);return n(q,{title:"Namespaces",actions:it("admin")&&n(x,{kind:"primary",onClick:()=>{r(!0)},children:"Cr\
eate namespace\u2026"}),children:[n($,{flush:!0,wide:!0,children:n(j,{of:e,children:a=>a.length===0?n(M,{title:"You may read no namespace.",command:"timerbus ke\
y list",children:"Ask an administrator for a grant such as read@default."}):n(k,{children:[zn.value&&n("p",{class:"callout",children:["The first ",R(a.length),"\
 namespaces. ",n("code",{children:"timerbus namespace list"})," prints all."]}),n(ie,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host con\
currency","Max. pending","Signed","Updated"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Namespace",children:[n("a",{href:C(["\
namespaces",s.name]),children:s.name})," ",s.deletingSince&&n(oe,{kind:"dead",children:"being deleted"})]}),n("td",{class:"num","data-label":"Shards",children:s.
numShards}),n("td",{"data-label":"History",children:Y(s.settings.historyRetention)}),n("td",{"data-label":"Dead",children:Y(s.settings.deadRetention)}),n("td",{
class:"num","data-label":"Host concurrency",children:s.settings.hostConcurrency}),n("td",{class:"num","data-label":"Max. pending",children:s.settings.quota?.maxPending?
R(s.settings.quota.maxPending):n("span",{class:"muted",children:"no limit"})}),n("td",{"data-label":"Signed",children:s.settings.secrets?.length?"yes":n("span",
{class:"muted",children:"no"})}),n("td",{"data-label":"Updated",children:n(I,{at:s.updatedAt,only:"relative"})})]},s.name))})]})})}),t&&n(Go,{close:()=>{r(!1)},
after:e.again})]})}function Go({close:e,after:t}){let[r,a]=g(""),[s,o]=g("small");return n(he,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?
{name:r,preset:s}:"Enter a name.",done:`${r} is created.`,close:e,after:t,children:[n(E,{label:"Name",value:r,set:a,required:!0}),n(re,{label:"Size",value:s,set:o,
hint:"It can never be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["x\
large","Below 100,000,000 (4,096)"]]})]})}function Va({name:e}){let t=L(`namespace/${e}`,5e3,u=>N("namespaces/get",{name:e},u)),[r,a]=g(null),[s,o]=g(!1),i=u=>{
a({title:`${u==="pause"?"Pause":"Resume"} ${e}`,verb:u==="pause"?"Pause":"Resume",done:u==="pause"?"paused":"resumed",path:`timers/${u}-matching`,filter:{namespace:e},
describe:u==="pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:(l,d)=>Qe(
{namespace:e},u==="resume"?["paused"]:["scheduled","retrying"],l,d)})},c=t.data&&n(k,{children:[ue("write",e)&&n(x,{onClick:()=>{i("pause")},children:"Pause all\
 timers\u2026"}),ue("write",e)&&n(x,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),ue("admin",e)&&n(x,{kind:"primary",onClick:()=>{o(!0)},children:"\
Edit\u2026"})]});return n(q,{title:e,crumb:n("a",{href:C(["namespaces"]),children:"Namespaces"}),actions:c,children:[n(j,{of:t,children:u=>{let l=u.settings,d=l.
retryPolicy;return n("div",{class:"grid",children:[n($,{title:"Settings",aside:u.deletingSince&&n(oe,{kind:"dead",children:"being deleted"}),children:n(Ee,{of:[
["Shards",u.numShards],["Callback timeout",Y(l.callbackTimeout)],["Retry",`${ae(d.maxAttempts,"attempt")}, from ${Y(d.initialInterval)}, \xD7 ${JSON.stringify(d.
backoffMultiplier)}, to ${Y(d.maxInterval)}`],["History",Y(l.historyRetention)],["Dead timers",Y(l.deadRetention)],["Payloads of done timers",l.keepPayload?Y(l.
keepPayload):"not kept"],["Final statuses",l.finalStatuses?.join(", ")],["Event topics",l.eventTopics?.join(", ")],["On done",l.onDone&&n("code",{children:l.onDone})],
["On dead",l.onDead&&n("code",{children:l.onDead})],["Result events",l.results],["Headers",l.headers&&Object.keys(l.headers).join(", ")],["Version",u.version],[
"Updated",n(I,{at:u.updatedAt})]]})}),n($,{title:"Limits",children:n(Ee,{of:[["Calls of one host",`${l.hostConcurrency} for each dispatcher`],["Pending timers",
l.quota?.maxPending?R(l.quota.maxPending):"no limit"],["Creates",l.quota?.createsPerSecond?`${R(l.quota.createsPerSecond)} per second`:"no limit"],["Payload",l.
quota?.maxPayloadBytes?`${R(l.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(l.flows??[]).map(f=>[`Flow ${f.pattern}`,an(f)])]})}),n($,{title:"Keys of sign\
atures",flush:!0,wide:!0,children:l.secrets?.length?n(ie,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:l.secrets.map(f=>n("tr",{children:[
n("td",{children:n("code",{children:f.id})}),n("td",{children:n(I,{at:f.createdAt})}),n("td",{children:f.expiresAt?n(I,{at:f.expiresAt}):"never"})]},f.id))}):n(
M,{title:"Callbacks of this namespace are not signed.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with the CLI:"})}),(l.callbackAuth||
l.tls)&&n($,{title:"Authentication of callbacks",children:n(Ee,{of:[["Type",l.callbackAuth?.type],["Token endpoint",l.callbackAuth?.tokenUrl],["Client",l.callbackAuth?.
clientId??l.callbackAuth?.username],["Own authorities",l.tls?.ca&&"yes"],["Client certificate",l.tls?.certificate&&"yes"]]})})]})}}),r&&n(pt,{action:r,close:()=>{
a(null)},after:t.again}),s&&t.data&&n(Yo,{of:t.data,close:()=>{o(!1)},after:t.again})]})}function Yo({of:e,close:t,after:r}){let[a]=g(e),s=a.settings,o={callbackTimeout:Y(
s.callbackTimeout),historyRetention:Y(s.historyRetention),deadRetention:Y(s.deadRetention),hostConcurrency:String(s.hostConcurrency),maxPending:String(s.quota?.
maxPending??"")},[i,c]=g(o),u=d=>f=>{c({...i,[d]:f})},l=()=>{let d={};for(let f of["callbackTimeout","historyRetention","deadRetention"])i[f]!==o[f]&&(d[f]=i[f]||
null);return i.hostConcurrency!==o.hostConcurrency&&(d.hostConcurrency=i.hostConcurrency?Number(i.hostConcurrency):null),i.maxPending!==o.maxPending&&(d.quota={
...s.quota,maxPending:i.maxPending?Number(i.maxPending):null}),Object.keys(d).length?{name:a.name,settings:d,ifVersion:a.version}:"Nothing has changed."};return n(
he,{title:`Edit ${a.name}`,verb:"Save",path:"namespaces/update",body:l,done:`${a.name} is updated.`,close:t,after:r,children:[n(E,{label:"Callback timeout",value:i.
callbackTimeout,set:u("callbackTimeout"),hint:"1s to 5m"}),n(E,{label:"History retention",value:i.historyRetention,set:u("historyRetention")}),n(E,{label:"Dead \
retention",value:i.deadRetention,set:u("deadRetention")}),n(E,{label:"Calls of one host for each dispatcher",type:"number",value:i.hostConcurrency,set:u("hostCo\
ncurrency"),hint:"1 to 1024"}),n(E,{label:"Pending timers, at most",type:"number",value:i.maxPending,set:u("maxPending"),hint:"Empty: no limit"}),n("p",{class:"\
hint",children:["Empty fields get their default. All other settings: ",n("code",{children:["timerbus namespace update ",a.name," --help"]})]})]})}var nr;(typeof navigator>"u"||!navigator.userAgent?.startsWith?.("Mozilla/5.0 "))&&(nr="oauth4webapi/v3.8.8");function kn(e,t){if(e==null)return!1;try{return e instanceof
t||Object.getPrototypeOf(e)[Symbol.toStringTag]===t.prototype[Symbol.toStringTag]}catch{return!1}}var Re="ERR_INVALID_ARG_VALUE",Pe="ERR_INVALID_ARG_TYPE";function K(e,t,r){
let a=new TypeError(e,{cause:r});return Object.assign(a,{code:t}),a}var Sn=Symbol(),Qo=Symbol(),Xo=Symbol(),Xa=Symbol();var Ga=Symbol();var ei=new TextEncoder,ti=new TextDecoder;function rr(e){return typeof e=="string"?ei.encode(e):ti.decode(e)}var ar;Uint8Array.prototype.toBase64?ar=e=>(e instanceof
ArrayBuffer&&(e=new Uint8Array(e)),e.toBase64({alphabet:"base64url",omitPadding:!0})):ar=t=>{t instanceof ArrayBuffer&&(t=new Uint8Array(t));let r=[];for(let a=0;a<
t.byteLength;a+=32768)r.push(String.fromCharCode.apply(null,t.subarray(a,a+32768)));return btoa(r.join("")).replace(/=/g,"").replace(/\+/g,"-").replace(/\//g,"_")};
var sr;Uint8Array.fromBase64?sr=e=>{try{return Uint8Array.fromBase64(e,{alphabet:"base64url"})}catch(t){throw K("The input to be decoded is not correctly encode\
d.",Re,t)}}:sr=e=>{try{let t=atob(e.replace(/-/g,"+").replace(/_/g,"/").replace(/\s/g,"")),r=new Uint8Array(t.length);for(let a=0;a<t.length;a++)r[a]=t.charCodeAt(
a);return r}catch(t){throw K("The input to be decoded is not correctly encoded.",Re,t)}};function gn(e){return typeof e=="string"?sr(e):ar(e)}var mt=class extends Error{code;constructor(t,r){
super(t,r),this.name=this.constructor.name,this.code=Mi,Error.captureStackTrace?.(this,this.constructor)}},or=class extends Error{code;constructor(t,r){super(t,
r),this.name=this.constructor.name,r?.code&&(this.code=r?.code),Error.captureStackTrace?.(this,this.constructor)}};function A(e,t,r){return new or(e,{code:t,cause:r})}function yn(e){return!(e===null||typeof e!="object"||Array.isArray(e))}function es(e){kn(e,Headers)&&(e=Object.fromEntries(e.entries()));let t=new Headers(e??{});
if(nr&&!t.has("user-agent")&&t.set("user-agent",nr),t.has("authorization"))throw K('"options.headers" must not include the "authorization" header name',Re);return t}
function ts(e,t){if(t!==void 0){if(typeof t=="function"&&(t=t(e.href)),!(t instanceof AbortSignal))throw K('"options.signal" must return or be an instance of Ab\
ortSignal',Pe);return t}}function ns(e){return e.includes("//")?e.replace("//","/"):e}function ni(e,t,r=!1){return e.pathname==="/"?e.pathname=t:e.pathname=ns(`${t}\
/${r?e.pathname:e.pathname.replace(/(\/)$/,"")}`),e}function ri(e,t){return e.pathname=ns(`${e.pathname}/${t}`),e}async function ai(e,t,r,a){if(!(e instanceof URL))
throw K(`"${t}" must be an instance of URL`,Pe);hs(e,a?.[Sn]!==!0);let s=r(new URL(e.href)),o=es(a?.headers);return o.set("accept","application/json"),(a?.[Xa]||
fetch)(s.href,{body:void 0,headers:Object.fromEntries(o.entries()),method:"GET",redirect:"manual",signal:ts(s,a?.signal)})}async function rs(e,t){return ai(e,"i\
ssuerIdentifier",r=>{switch(t?.algorithm){case void 0:case"oidc":ri(r,".well-known/openid-configuration");break;case"oauth2":ni(r,".well-known/oauth-authorizati\
on-server");break;default:throw K('"options.algorithm" must be "oidc" (default), or "oauth2"',Re)}return r},t)}function _n(e,t,r,a,s){try{if(typeof e!="number"||
!Number.isFinite(e))throw K(`${r} must be a number`,Pe,s);if(e>0)return;if(t){if(e!==0)throw K(`${r} must be a non-negative number`,Re,s);return}throw K(`${r} m\
ust be a positive number`,Re,s)}catch(o){throw a?A(o.message,a,s):o}}function we(e,t,r,a){try{if(typeof e!="string")throw K(`${t} must be a string`,Pe,a);if(e.length===
0)throw K(`${t} must not be empty`,Re,a)}catch(s){throw r?A(s.message,r,a):s}}async function as(e,t){let r=e;if(!(r instanceof URL)&&r!==Qa)throw K('"expectedIs\
suerIdentifier" must be an instance of URL',Pe);if(!kn(t,Response))throw K('"response" must be an instance of Response',Pe);if(t.status!==200)throw A('"response\
" is not a conform Authorization Server Metadata response (unexpected HTTP status code)',xs,t);hr(t);let a=await Cs(t);if(we(a.issuer,'"response" body "issuer" \
property',U,{body:a}),r!==Qa&&new URL(a.issuer).href!==r.href)throw A('"response" body "issuer" property does not match the expected value',qi,{expected:r.href,
body:a,attribute:"issuer"});return a}function ss(e){oi(e,"application/json")}function si(e,...t){let r='"response" content-type must be ';if(t.length>2){let a=t.
pop();r+=`${t.join(", ")}, or ${a}`}else t.length===2?r+=`${t[0]} or ${t[1]}`:r+=t[0];return A(r,Hi,e)}function oi(e,t){if(wi(e)!==t)throw si(e,t)}function lr(){return gn(crypto.getRandomValues(new Uint8Array(32)))}function os(){return lr()}function is(){return lr()}
function cs(){return lr()}async function us(e){return we(e,"codeVerifier"),gn(await crypto.subtle.digest("SHA-256",rr(e)))}function ls(e){let t=e?.[Qo];return typeof t=="number"&&Number.isFinite(t)?t:0}function ds(e){let t=e?.[Xo];return typeof t=="number"&&Number.isFinite(t)&&Math.
sign(t)!==-1?t:30}function ps(){return Math.floor(Date.now()/1e3)}function dr(e){if(typeof e!="object"||e===null)throw K('"as" must be an object',Pe);we(e.issuer,
'"as.issuer"')}function pr(e){if(typeof e!="object"||e===null)throw K('"client" must be an object',Pe);we(e.client_id,'"client.client_id"')}function fs(){return(e,t,r,a)=>{r.set("client_id",t.client_id)}}var ii=URL.parse?(e,t)=>URL.parse(e,t):(e,t)=>{try{return new URL(e,t)}catch{return null}};function hs(e,t){if(t&&e.protocol!=="https:")throw A("only requests t\
o HTTPS are allowed",Fi,e);if(e.protocol!=="https:"&&e.protocol!=="http:")throw A("only HTTP and HTTPS requests are allowed",Ji,e)}function Ya(e,t,r,a){let s;if(typeof e!=
"string"||!(s=ii(e)))throw A(`authorization server metadata does not contain a valid ${r?`"as.mtls_endpoint_aliases.${t}"`:`"as.${t}"`}`,e===void 0?Wi:zi,{attribute:r?
`mtls_endpoint_aliases.${t}`:t});return hs(s,a),s}function ci(e,t,r,a){return r&&e.mtls_endpoint_aliases&&t in e.mtls_endpoint_aliases?Ya(e.mtls_endpoint_aliases[t],
t,r,a):Ya(e[t],t,r,a)}var Ot=class extends Error{cause;code;error;status;error_description;response;constructor(t,r){super(t,r),this.name=this.constructor.name,this.code=Bi,this.cause=
r.cause,this.error=r.cause.error,this.status=r.response.status,this.error_description=r.cause.error_description,Object.defineProperty(this,"response",{enumerable:!1,
value:r.response}),Error.captureStackTrace?.(this,this.constructor)}},Nt=class extends Error{cause;code;error;error_description;constructor(t,r){super(t,r),this.
name=this.constructor.name,this.code=ji,this.cause=r.cause,this.error=r.cause.get("error"),this.error_description=r.cause.get("error_description")??void 0,Error.
captureStackTrace?.(this,this.constructor)}},ir=class extends Error{cause;code;response;status;constructor(t,r){super(t,r),this.name=this.constructor.name,this.
code=Ui,this.cause=r.cause,this.status=r.response.status,this.response=r.response,Object.defineProperty(this,"response",{enumerable:!1}),Error.captureStackTrace?.(
this,this.constructor)}},vn="[a-zA-Z0-9!#$%&\\'\\*\\+\\-\\.\\^_`\\|~]+",ui="[a-zA-Z0-9\\-\\._\\~\\+\\/]+={0,2}",li='"((?:[^"\\\\]|\\\\[\\s\\S])*)"',di="("+vn+")\
\\s*=\\s*"+li,pi="("+vn+")\\s*=\\s*("+vn+")",fi=new RegExp("^[,\\s]*("+vn+")"),hi=new RegExp("^[,\\s]*"+di+"[,\\s]*(.*)"),mi=new RegExp("^[,\\s]*"+pi+"[,\\s]*(.*\
)"),gi=new RegExp("^("+ui+")(?:$|[,\\s])(.*)");function yi(e){if(!kn(e,Response))throw K('"response" must be an instance of Response',Pe);let t=e.headers.get("w\
ww-authenticate");if(t===null)return;let r=[],a=t;for(;a;){let s=a.match(fi),o=s?.[1].toLowerCase();if(!o)return;let i=a.substring(s[0].length);if(i&&!i.match(/^[\s,]/))
return;let c=i.match(/^\s+(.*)$/),u=!!c;a=c?c[1]:void 0;let l={},d;if(u)for(;a;){let h,p;if(s=a.match(hi)){[,h,p,a]=s,p.includes("\\")&&(p=p.replace(/\\([\s\S])/g,
"$1")),l[h.toLowerCase()]=p;continue}if(s=a.match(mi)){[,h,p,a]=s,l[h.toLowerCase()]=p;continue}if(s=a.match(gi)){if(Object.keys(l).length)break;[,d,a]=s;break}
return}else a=i||void 0;let f={scheme:o,parameters:l};d&&(f.token68=d),r.push(f)}if(r.length)return r}async function _i(e){if(e.status>399&&e.status<500){hr(e),ss(e);try{let t=await e.clone().json();if(yn(t)&&typeof t.error=="string"&&t.error.length)return t}catch{}}}
async function vi(e,t,r){if(e.status!==t){Ti(e);let a;throw(a=await _i(e))?(await e.body?.cancel(),new Ot("server responded with an error in the response body",
{cause:a,response:e})):A(`"response" is not a conform ${r} response (unexpected HTTP status code)`,xs,e)}}function bi(e){if(!fr.has(e))throw K('"options.DPoP" i\
s not a valid DPoPHandle',Re)}function wi(e){return e.headers.get("content-type")?.split(";")[0]}async function ki(e,t,r,a,s,o,i){return await r(e,t,s,o),o.set("content-type","application/x-www-form-urlencoded;charset=UTF-8"),(i?.[Xa]||fetch)(a.href,{body:s,
headers:Object.fromEntries(o.entries()),method:"POST",redirect:"manual",signal:ts(a,i?.signal)})}async function Si(e,t,r,a,s,o){let i=ci(e,"token_endpoint",t.use_mtls_endpoint_aliases,
o?.[Sn]!==!0);s.set("grant_type",a);let c=es(o?.headers);c.set("accept","application/json"),o?.DPoP!==void 0&&(bi(o.DPoP),await o.DPoP.addProof(i,c,"POST"));let u=await ki(
e,t,r,i,s,c,o);return o?.DPoP?.cacheNonce(u,i),u}var ms=new WeakMap,xi=new WeakMap;function gs(e){if(!e.id_token)return;let t=ms.get(e);if(!t)throw K('"ref" was already garbage collected or did not resolve fro\
m the proper sources',Re);return t}async function ys(e,t,r,a,s,o){if(dr(e),pr(t),!kn(r,Response))throw K('"response" must be an instance of Response',Pe);await vi(r,200,"Token Endpoint"),hr(r);let i=await Cs(
r);if(we(i.access_token,'"response" body "access_token" property',U,{body:i}),we(i.token_type,'"response" body "token_type" property',U,{body:i}),i.token_type=i.
token_type.toLowerCase(),i.expires_in!==void 0){let c=typeof i.expires_in!="number"?parseFloat(i.expires_in):i.expires_in;_n(c,!0,'"response" body "expires_in" \
property',U,{body:i}),i.expires_in=c}if(i.refresh_token!==void 0&&we(i.refresh_token,'"response" body "refresh_token" property',U,{body:i}),i.scope!==void 0&&typeof i.
scope!="string")throw A('"response" body "scope" property must be a string',U,{body:i});if(i.id_token!==void 0){we(i.id_token,'"response" body "id_token" proper\
ty',U,{body:i});let c=[];t.require_auth_time===!0&&c.push("auth_time"),t.default_max_age!==void 0&&(_n(t.default_max_age,!0,'"client.default_max_age"'),c.push("\
auth_time")),a?.length&&c.push(...a);let{claims:u,jwt:l}=await Oi(e,t,i.id_token,c,s);Di(t,u),Ni(u),xi.set(r,l),ms.set(i,u)}if(o?.[i.token_type]!==void 0)o[i.token_type](
r,i);else if(i.token_type!=="dpop"&&i.token_type!=="bearer")throw new mt("unsupported `token_type` value",{cause:{body:i}});return i}function Ti(e){let t;if(t=yi(
e))throw new ir("server responded with a challenge in the WWW-Authenticate HTTP Header",{cause:t,response:e})}function Ci(e,t){if(Array.isArray(t.claims.aud)){if(!t.claims.aud.includes(e))throw A('unexpected JWT "aud" (audience) claim value',gt,{expected:e,claims:t.claims,
claim:"aud"})}else if(t.claims.aud!==e)throw A('unexpected JWT "aud" (audience) claim value',gt,{expected:e,claims:t.claims,claim:"aud"});return t}function Ai(e,t){let r=e[Yi]?.(t)??e.issuer;if(t.claims.iss!==r)throw A('unexpected JWT "iss" (issuer) claim value',gt,{expected:r,claims:t.claims,claim:"iss"});
return t}var fr=new WeakSet;function Ri(e){return fr.add(e),e}var Pi=Symbol();async function _s(e,t,r,a,s,o,i){if(dr(e),pr(t),!fr.has(a))throw K('"callbackParam\
eters" must be an instance of URLSearchParams obtained from "validateAuthResponse()", or "validateJwtAuthResponse()',Re);we(s,'"redirectUri"');let c=tt(a,"code");
if(!c)throw A('no authorization code in "callbackParameters"',U);let u=new URLSearchParams(i?.additionalParameters);return u.set("redirect_uri",s),u.set("code",
c),o!==Pi&&(we(o,'"codeVerifier"'),u.set("code_verifier",o)),Si(e,t,r,"authorization_code",u,i)}var vs={aud:"audience",c_hash:"code hash",client_id:"client id",
exp:"expiration time",iat:"issued at",iss:"issuer",jti:"jwt id",nonce:"nonce",s_hash:"state hash",sub:"subject",ath:"access token hash",htm:"http method",htu:"h\
ttp uri",cnf:"confirmation",auth_time:"authentication time"};function Ei(e,t){for(let r of e)if(t.claims[r]===void 0)throw A(`JWT "${r}" (${vs[r]}) claim missin\
g`,U,{claims:t.claims});return t}function $i(e,t){if(typeof t.claims[e]!="string")throw A(`unexpected JWT "${e}" (${vs[e]}) claim type`,U,{claims:t.claims});return t}
function Oi(e,t,r,a,s){return Ki(r,Zi.bind(void 0,t.id_token_signed_response_alg,e.id_token_signing_alg_values_supported,"RS256"),ls(t),ds(t),s).then(Ei.bind(void 0,
["aud","exp","iat","iss","sub",...a])).then(Ai.bind(void 0,e)).then(Ci.bind(void 0,t.client_id)).then($i.bind(void 0,"sub"))}function bs(e,t){if(t===wn)return t;
let r=t===void 0;return r&&(t=e.default_max_age),t===void 0?wn:(_n(t,!0,r?'"client.default_max_age"':'"maxAge" argument'),t)}function Ni(e){e.auth_time!==void 0&&
_n(e.auth_time,!0,'ID Token "auth_time" (authentication time)',U,{claims:e})}function ws(e,t,r){if(r===wn)return;let a=ps()+ls(e),s=ds(e);if(t.auth_time+r<a-s)throw A(
"too much time has elapsed since the last End-User authentication",ur,{claims:t,now:a,tolerance:s,claim:"auth_time"})}function ks(e,t){let r=t===bn?void 0:t;if(e.
nonce!==r)throw A('unexpected ID Token "nonce" claim value',gt,{expected:r,claims:e,claim:"nonce"})}function Di(e,t){if(Array.isArray(t.aud)&&t.aud.length!==1){
if(t.azp===void 0)throw A('ID Token "aud" (audience) claim includes additional untrusted audiences',gt,{claims:t,claim:"aud"});if(t.azp!==e.client_id)throw A('u\
nexpected ID Token "azp" (authorized party) claim value',gt,{expected:e.client_id,claims:t,claim:"azp"})}}var bn=Symbol(),wn=Symbol();async function Ss(e,t,r,a){
return typeof a?.expectedNonce=="string"||typeof a?.maxAge=="number"||a?.requireIdToken?Ii(e,t,r,a.expectedNonce,a.maxAge,a[Ga],a.recognizedTokenTypes):Li(e,t,r,
a?.maxAge,a?.[Ga],a?.recognizedTokenTypes)}async function Ii(e,t,r,a,s,o,i){let c=[];switch(a){case void 0:a=bn;break;case bn:break;default:we(a,'"expectedNonce\
" argument'),c.push("nonce")}s=bs(t,s),s!==wn&&c.push("auth_time");let u=await ys(e,t,r,c,o,i);we(u.id_token,'"response" body "id_token" property',U,{body:u});let l=gs(
u);return ws(t,l,s),ks(l,a),u}async function Li(e,t,r,a,s,o){let i=await ys(e,t,r,void 0,s,o),c=gs(i);return c&&(ws(t,c,bs(t,a)),ks(c,bn)),i}var Ui="OAUTH_WWW_A\
UTHENTICATE_CHALLENGE",Bi="OAUTH_RESPONSE_BODY_ERROR",Mi="OAUTH_UNSUPPORTED_OPERATION",ji="OAUTH_AUTHORIZATION_RESPONSE_ERROR";var cr="OAUTH_PARSE_ERROR",U="OAUTH_INVALID_RESPONSE";var Hi="OAUTH_RESPONSE_IS_NOT_JSON",xs="OAUTH_RESPONSE_IS_NOT_CONFORM",Fi="OAUTH_HTTP_REQUEST_FORBIDDEN",Ji="OAUTH_REQUEST_PROTOCOL_FORBIDDEN",ur="OAUTH_JWT_TIM\
ESTAMP_CHECK_FAILED",gt="OAUTH_JWT_CLAIM_COMPARISON_FAILED",qi="OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";var Wi="OAUTH_MISSING_SERVER_METADATA",zi="OAUTH_INVALID_SERVER_METADATA";function hr(e){if(e.bodyUsed)throw K('"response" body has been used already',Re)}async function Ki(e,t,r,a,s){let{0:o,1:i,length:c}=e.split(".");if(c===5)if(s!==void 0)e=await s(e),{0:o,1:i,length:c}=e.split(".");else throw new mt("JWE decry\
ption is not configured",{cause:e});if(c!==3)throw A("Invalid JWT",U,e);let u;try{u=JSON.parse(rr(gn(o)))}catch(f){throw A("failed to parse JWT Header body as b\
ase64url encoded JSON",cr,f)}if(!yn(u))throw A("JWT Header must be a top level object",U,e);if(t(u),u.crit!==void 0)throw new mt('no JWT "crit" header parameter\
 extensions are supported',{cause:{header:u}});let l;try{l=JSON.parse(rr(gn(i)))}catch(f){throw A("failed to parse JWT Payload body as base64url encoded JSON",cr,
f)}if(!yn(l))throw A("JWT Payload must be a top level object",U,e);let d=ps()+r;if(l.exp!==void 0){if(typeof l.exp!="number")throw A('unexpected JWT "exp" (expi\
ration time) claim type',U,{claims:l});if(l.exp<=d-a)throw A('unexpected JWT "exp" (expiration time) claim value, expiration is past current timestamp',ur,{claims:l,
now:d,tolerance:a,claim:"exp"})}if(l.iat!==void 0&&typeof l.iat!="number")throw A('unexpected JWT "iat" (issued at) claim type',U,{claims:l});if(l.iss!==void 0&&
typeof l.iss!="string")throw A('unexpected JWT "iss" (issuer) claim type',U,{claims:l});if(l.nbf!==void 0){if(typeof l.nbf!="number")throw A('unexpected JWT "nb\
f" (not before) claim type',U,{claims:l});if(l.nbf>d+a)throw A('unexpected JWT "nbf" (not before) claim value',ur,{claims:l,now:d,tolerance:a,claim:"nbf"})}if(l.
aud!==void 0&&typeof l.aud!="string"&&!Array.isArray(l.aud))throw A('unexpected JWT "aud" (audience) claim type',U,{claims:l});return{header:u,claims:l,jwt:e}}function Zi(e,t,r,a){if(e!==void 0){if(typeof e=="string"?a.alg!==e:!e.includes(a.alg))throw A('unexpected JWT "alg" header parameter',U,{header:a,expected:e,reason:"\
client configuration"});return}if(Array.isArray(t)){if(!t.includes(a.alg))throw A('unexpected JWT "alg" header parameter',U,{header:a,expected:t,reason:"authori\
zation server metadata"});return}if(r!==void 0){if(typeof r=="string"?a.alg!==r:typeof r=="function"?!r(a.alg):!r.includes(a.alg))throw A('unexpected JWT "alg" \
header parameter',U,{header:a,expected:r,reason:"default value"});return}throw A('missing client or server configuration to verify used JWT "alg" header paramet\
er',void 0,{client:e,issuer:t,fallback:r})}function tt(e,t){let{0:r,length:a}=e.getAll(t);if(a>1)throw A(`"${t}" parameter must be provided only once`,U);return r}
var Vi=Symbol(),Gi=Symbol();function Ts(e,t,r,a){if(dr(e),pr(t),r instanceof URL&&(r=r.searchParams),!(r instanceof URLSearchParams))throw K('"parameters" must \
be an instance of URLSearchParams, or URL',Pe);if(tt(r,"response"))throw A('"parameters" contains a JARM response, use validateJwtAuthResponse() instead of vali\
dateAuthResponse()',U,{parameters:r});let s=tt(r,"iss"),o=tt(r,"state");if(!s&&e.authorization_response_iss_parameter_supported)throw A('response parameter "iss\
" (issuer) missing',U,{parameters:r});if(s&&s!==e.issuer)throw A('unexpected "iss" (issuer) response parameter value',U,{expected:e.issuer,parameters:r});switch(a){case void 0:case Gi:
if(o!==void 0)throw A('unexpected "state" response parameter encountered',U,{expected:void 0,parameters:r});break;case Vi:break;default:if(we(a,'"expectedState"\
 argument'),o!==a)throw A(o===void 0?'response parameter "state" missing':'unexpected "state" response parameter value',U,{expected:a,parameters:r})}if(tt(r,"er\
ror"))throw new Nt("authorization response from the server is an error",{cause:r});let c=tt(r,"id_token"),u=tt(r,"token");if(c!==void 0||u!==void 0)throw new mt(
"implicit and hybrid flows are not supported");return Ri(new URLSearchParams(r))}async function Cs(e,t=ss){let r;try{r=await e.json()}catch(a){throw t(e),A('failed to parse "response" body as JSON',cr,a)}if(!yn(r))throw A('"response" body mu\
st be a top level object',U,{body:r});return r}var Qa=Symbol(),Yi=Symbol();var gr="timerbus-sign-in",Xi=1e4,yr=new URL("./",document.baseURI).href,{issuer:yt,audience:As,clientID:xn,scopes:ec}=de.signIn,mr={client_id:xn},Fe=xn&&new URL(
yt).host,Rs=()=>({[Sn]:yt.startsWith("http:"),signal:AbortSignal.timeout(Xi)});async function Ps(){if(!isSecureContext)throw new Error("This page must be opened\
 with HTTPS to sign in with the identity provider.");let e=await as(new URL(yt),await rs(new URL(yt),Rs()));if(!e.authorization_endpoint||!e.token_endpoint)throw new Error(
"It has no endpoints for the sign-in of users.");if(new URL(e.token_endpoint).origin!==new URL(yt).origin)throw new Error(`Its token endpoint ${e.token_endpoint}\
 has another origin than the issuer, to which the policy of this page allows no requests.`);if(new URL(e.authorization_endpoint).protocol!==new URL(yt).protocol)
throw new Error(`Its sign-in page ${e.authorization_endpoint} has another scheme than the issuer.`);return e}function Es(e){if(e instanceof Nt||e instanceof Ot)
return new Error(`${Fe} refuses the sign-in: ${[e.error,e.error_description].filter(Boolean).join(": ")}`);let t=e instanceof Error?e.message:String(e);return e instanceof
TypeError&&!e.code?new Error(`${Fe} cannot be reached from this browser, or does not allow requests of this page (CORS): ${t}`):new Error(`The sign-in with ${Fe}\
 has failed: ${t}`)}async function $s(){try{let e=await Ps(),t={state:is(),nonce:cs(),verifier:os(),hash:location.hash},r=new URL(e.authorization_endpoint);for(let[
a,s]of Object.entries({response_type:"code",client_id:xn,redirect_uri:yr,scope:ec,state:t.state,nonce:t.nonce,code_challenge:await us(t.verifier),code_challenge_method:"\
S256"}))r.searchParams.set(a,s);sessionStorage.setItem(gr,JSON.stringify(t)),location.assign(r)}catch(e){throw Es(e)}}function Os(){let e=new URLSearchParams(location.
search);return xn!==""&&(e.has("code")||e.has("error"))}async function Ns(){let e=new URL(location.href),t=JSON.parse(sessionStorage.getItem(gr)??"null");if(sessionStorage.
removeItem(gr),history.replaceState(null,"",yr+(t?.hash??"")),dispatchEvent(new HashChangeEvent("hashchange")),!t)throw new Error("The answer of the identity pr\
ovider belongs to no sign-in of this tab. Sign in again.");try{let r=await Ps(),a=Ts(r,mr,e,t.state),s=await _s(r,mr,fs(),a,yr,t.verifier,Rs()),o=await Ss(r,mr,
s,{expectedNonce:t.nonce,requireIdToken:!0}),i=[o.access_token,o.id_token].find(c=>c!==void 0&&tc(c).includes(As));if(!i)throw new Error(`neither the access tok\
en nor the ID token is a JWT with the audience ${As}.`);st(i)}catch(r){throw Es(r)}}function tc(e){try{let t=atob((e.split(".")[1]??"").replaceAll("-","+").replaceAll(
"_","/"));return[JSON.parse(t).aud??[]].flat()}catch{return[]}}var nc=50;function rc(e){if(!e.held)return"free";let t=Vn(e.overdueFor??"");return t>=6e4?"l4":t>=1e4?"l3":t>=2e3?"l2":t>0?"l1":"l0"}var ac=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Ds(){let e=T.value,t=L(`shards/${e}`,5e3,s=>N("shards/list",
{namespace:e},s)),[r,a]=g(nc);return n(q,{title:"Shards",children:n(j,{of:t,children:({shards:s})=>{let o=s.filter(f=>!f.held).length,i=s.filter(f=>f.overdueFor),
c=Math.max(0,...i.map(f=>Vn(f.overdueFor??""))),u=new Map;for(let f of s)f.held&&u.set(f.node??"",(u.get(f.node??"")??0)+1);let l=Math.max(1,...u.values()),d=Rt();
return n(k,{children:[n("div",{class:"tiles",children:[n(X,{label:"Shards",value:R(s.length),hint:e}),n(X,{label:"Without an owner",value:R(o),kind:o?"warn":"",
hint:o?"no scheduler runs, or one just ended":"all are owned"}),n(X,{label:"With overdue timers",value:R(i.length),kind:c>1e4?"warn":"",hint:c?`longest ${He(c)}`:
"none"}),n(X,{label:"Nodes",value:R(u.size),hint:"that own shards"})]}),n("div",{class:"grid",children:[n($,{title:"Lag",wide:!0,aside:n("div",{class:"legend",children:ac.
map(([f,h])=>n("span",{children:[n("i",{class:`cell ${f}`}),h]},f))}),children:n("div",{class:"heat",role:"img","aria-label":`${ae(s.length,"shard")}: ${o} with\
out an owner, ${i.length} with overdue timers. The table below lists ${s.length>r?`the first ${r}`:"them"}.`,children:s.map(f=>n("i",{class:`cell ${rc(f)}`,title:`\
shard ${f.shard}, partition ${f.partition}, ${f.held?f.node:"no owner"}${f.overdueFor?`, overdue for ${f.overdueFor}`:""}`},f.shard))})}),n($,{title:"Balance",wide:!0,
children:u.size===0?n(M,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):n("ul",{class:"balance",children:[...u].
sort(([f],[h])=>f<h?-1:1).map(([f,h])=>n("li",{children:[n("span",{class:"clip",children:f}),n("span",{class:"meter","aria-hidden":"true",children:n("span",{style:{
width:`${h/l*100}%`}})}),n("span",{class:"num",children:ae(h,"shard")})]},f))})}),n($,{title:"Every shard",wide:!0,flush:!0,children:[n(ie,{caption:"Shards",head:[
"Shard","Partition","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:s.slice(0,r).map(f=>n("tr",{children:[n("td",{class:"num","data-la\
bel":"Shard",children:f.shard}),n("td",{class:"num","data-label":"Partition",children:f.partition}),n("td",{class:"clip","data-label":"Owner",children:f.held?f.
node:n(oe,{kind:"retrying",children:"none"})}),n("td",{"data-label":"Claimed",children:n(I,{at:f.claimedAt,only:"relative"})}),n("td",{"data-label":"Watermark",
children:f.watermark?n("time",{dateTime:f.watermark,title:f.watermark,children:[He(Math.max(0,d-Date.parse(f.watermark)))," behind"]}):n("span",{class:"muted",children:"\
\u2013"})}),n("td",{"data-label":"Next due",children:n(I,{at:f.nextDueAt,only:"relative"})}),n("td",{class:"num","data-label":"Overdue for",children:f.overdueFor??
n("span",{class:"muted",children:"\u2013"})})]},f.shard))}),s.length>r&&n("div",{class:"pager",children:[n("span",{class:"muted",children:[r," of ",R(s.length)]}),
n(x,{onClick:()=>{a(r+500)},children:"Show more"})]})]})]})]})}})})}function sc(){let e=W(new ht("dispatcher_callback_seconds_count")),t=T.value,r=L(`callbacks/${t}`,3e3,async a=>{let s=new ft(await Xt(a)),o=e.current.add(s),i=c=>s.
quantile(c,"dispatcher_callback_seconds",o,{namespace:t});return{called:s.sum("dispatcher_hosts",{state:"called"}),queued:s.sum("dispatcher_hosts",{state:"queue\
d"}),open:s.sum("dispatcher_hosts",{state:"open"}),inFlight:s.sum("dispatcher_in_flight"),p50:i(.5),p99:i(.99),results:[...s.by("dispatcher_callbacks_total","re\
sult",{namespace:t})].filter(([,c])=>c>0)}});return n(j,{of:r,children:a=>a.called===void 0?n("p",{class:"callout",children:["This process delivers no timers, s\
o it knows no hosts. Dispatchers export their figures at ",n("code",{children:"/metrics"}),"."]}):n(k,{children:[n("div",{class:"tiles",children:[n(X,{label:"Ho\
sts called",value:R(a.called),hint:"with calls in flight"}),n(X,{label:"Hosts with a queue",value:R(a.queued??0),hint:"timers wait for a permit",kind:a.queued?"\
warn":""}),n(X,{label:"Open circuits",value:R(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),n(X,{label:"In flight",value:R(a.inFlight??0),hint:"\
deliveries of this process"}),n(X,{label:"Callback p50",value:Ge(a.p50),hint:`${t}, last minute`}),n(X,{label:"Callback p99",value:Ge(a.p99),hint:`${t}, last mi\
nute`})]}),a.results.length>0&&n($,{title:`Answers of ${t} since the start of this process`,wide:!0,children:n("div",{class:"chips",children:a.results.map(([s,o])=>n(
"span",{class:`chip ${s==="2xx"?"done":s==="3xx"?"":"dead"}`,children:[s," ",n("strong",{children:R(o)})]},s))})})]})})}function oc(){let e=T.value,t=L(`targets\
/${e}`,3e3,r=>N("targets/list",{namespace:e,limit:200},r));return n($,{title:"Hosts and user topics",flush:!0,wide:!0,children:n(j,{of:t,children:({delivers:r,targets:a})=>r?
a.length===0?n(M,{title:`No timer of ${e} has been delivered since the start of this process.`}):n(ie,{caption:"Hosts and user topics",head:["Target","Circuit",
"Running","Waiting","Concurrency"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Target",children:s.target}),n("td",{"data-label":"\
Circuit",children:s.circuitOpen?n(oe,{kind:"dead",children:"open"}):n(oe,{kind:"done",children:"closed"})}),n("td",{class:"num","data-label":"Running",children:R(
s.running)}),n("td",{class:"num","data-label":"Waiting",children:R(s.waiting)}),n("td",{class:"num","data-label":"Concurrency",children:R(s.concurrency)})]},s.target))}):
n(M,{title:"This process delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not share this state."})})})}function Is(){
let e=T.value,t=ne.value.query.get("after")??"",r=L(`flows/${e}/${t}`,3e3,a=>N("flows/list",{namespace:e,after:t||void 0,limit:100},a));return n(q,{title:"Targe\
ts",children:[it("read")?n(sc,{}):n("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),n(oc,{}),n($,{title:"Flow keys",
flush:!0,wide:!0,children:n(j,{of:r,children:a=>n(k,{children:[a.flows.length===0?n(M,{title:`No flow of ${e} is in use.`,command:`timerbus namespace update ${e}\
 --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):n(ie,{caption:"Flow keys",head:["Flow\
 key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:a.flows.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Flow key",children:s.
flowKey}),n("td",{"data-label":"Limit",children:s.limit?an(s.limit):"no pattern matches"}),n("td",{class:"num","data-label":"Running",children:R(s.running)}),n(
"td",{class:"num","data-label":"Waiting",children:R(s.waiting)}),n("td",{class:"num","data-label":"Backlog",children:R(s.backlog)}),n("td",{class:"num","data-la\
bel":"Dispatchers",children:R(s.dispatchers)})]},s.flowKey))}),(a.next||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:C(["targets"]),children:"First page"}),a.next&&n("a",{class:"button",href:C(["targets"],{after:a.next}),children:"Next page"})]})]})]})})})]})}function Us({id:e}){let t=T.value,r=d=>d.timerId===e,a=L(`timer/${t}/${e}`,2e3,d=>N("timers/get",{namespace:t,id:e},d),!1,r),s=L(`history/${t}/${e}`,3e3,d=>N("t\
imers/history",{namespace:t,id:e,limit:200},d),!1,r),[o,i]=g(null),c=a.data,u=()=>{a.again(),s.again()},l=c&&ue("write",t)&&n(k,{children:[c.status==="dead"||c.
status==="parked"||c.status==="done"?n(x,{kind:"primary",onClick:()=>{i("retry")},children:"Retry\u2026"}):n(k,{children:[c.status!=="paused"&&n(x,{kind:"primar\
y",onClick:()=>{i("run")},children:"Run now\u2026"}),c.status==="paused"?n(x,{onClick:()=>{i("resume")},children:"Resume\u2026"}):n(x,{onClick:()=>{i("pause")},
children:"Pause\u2026"})]}),c.status!=="dead"&&c.status!=="done"&&n(k,{children:[n(x,{onClick:()=>{i("update")},children:"Update\u2026"}),n(x,{kind:"danger-ghos\
t",onClick:()=>{i("delete")},children:"Delete\u2026"})]})]});return n(q,{title:e,crumb:n(k,{children:[n("a",{href:C(["timers"]),children:"Timers"})," / ",t]}),actions:l,
children:[n(j,{of:a,children:d=>n("div",{class:"grid",children:[n(ic,{of:d}),n(cc,{of:d}),n($,{title:"Attempts",wide:!0,children:n(j,{of:s,children:({attempts:f})=>n(
uc,{attempts:f,of:d})})})]})}),a.error?.status===404&&n(M,{title:"This timer does not exist, or its history has expired.",children:n("a",{href:C(["timers"]),children:[
"All timers of ",t]})}),c&&o&&n(lc,{of:c,action:o,close:()=>{i(null)},after:u})]})}function ic({of:e}){let t=e.retryPolicy,r=e.status==="done"||e.status==="dead";
return n($,{title:"State",aside:n(De,{status:e.status}),children:[e.lastError&&n("div",{class:"callout bad",children:[n("strong",{children:e.lastStatusCode?`HTT\
P ${e.lastStatusCode}`:"Last error"})," ",e.lastError]}),n(cn,{of:e.pause}),n(Ee,{of:[["Due",r?void 0:n(I,{at:e.dueAt})],["Execute at",n(I,{at:e.executeAt})],["\
Local time",e.executeAtLocal&&`${e.executeAtLocal.replace("T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&n(I,{at:e.executedAt})],["Attempts",`${e.attempts}\
 of ${t.maxAttempts}`],["Retry",`from ${Y(t.initialInterval)}, \xD7 ${JSON.stringify(t.backoffMultiplier)}, to ${Y(t.maxInterval)}`+(t.maxAttemptsDuration&&t.maxAttemptsDuration!==
"0s"?`, for ${Y(t.maxAttemptsDuration)}`:"")],["Window",e.window],["Expires",e.expiresAt&&n(I,{at:e.expiresAt})],["Flow key",e.flowKey&&n("code",{children:e.flowKey})],
["On done",e.onDone&&n("code",{children:e.onDone})],["On dead",e.onDead&&n("code",{children:e.onDead})],["Correlation id",n("a",{href:C(["timers"],{correlationId:e.
correlationId}),children:n("code",{children:e.correlationId})})],["Created",n(I,{at:e.createdAt})],["Updated",n(I,{at:e.updatedAt})],["Generation",n("code",{children:e.
generation})],["UUID",n("code",{children:e.uuid})]]})]})}function cc({of:e}){let t=!de.hidePayloads,r=n("p",{class:"muted",children:"Hidden by the settings of t\
he server."});return n($,{title:"Request",children:[n(Ee,{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&
n("span",{class:"url",children:[n("code",{children:e.callbackUrl})," ",n(Gn,{text:e.callbackUrl})]})],["Topic",e.topic&&n("code",{children:e.topic})],["Key",e.key&&
n("code",{children:e.key})],["Timeout",Y(e.callbackTimeout)],["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&n(k,{children:[
n("h3",{children:"Headers"}),t?n(Ee,{of:Object.entries(e.headers).map(([a,s])=>[a,n("code",{children:s})])}):r]}),n("h3",{children:"Payload"}),t?e.payload!==void 0?
n(lt,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?n(lt,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?n(lt,{value:e.request.
bodyBase64,label:"Body, base64"}):n("p",{class:"muted",children:e.status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}
var Ls={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"dead",expired:"parked"};function uc({attempts:e,of:t}){if(e.length===0)return n(M,{title:"No\
 attempt has ended yet.",children:t.status==="scheduled"&&n(k,{children:["The first one begins ",n(I,{at:t.dueAt}),"."]})});let r=o=>Date.parse(o.finishedAt)-Date.
parse(o.startedAt),a=Math.max(1,...e.map(r)),s=(o,i)=>{let c=e[i+1];return Date.parse(o.startedAt)-Date.parse(c?.generation===o.generation&&c.nextAt?c.nextAt:o.
executeAt)};return n("ol",{class:"timeline",children:e.map((o,i)=>n("li",{class:Ls[o.outcome],children:[n("div",{class:"timeline-head",children:[n(oe,{kind:Ls[o.
outcome],children:o.outcome}),n("strong",{children:["Attempt ",o.attempt]}),n(I,{at:o.startedAt}),n("span",{class:"muted",children:[He(Math.max(0,s(o,i)))," lat\
e"]})]}),n("div",{class:"timeline-body",children:[n("span",{children:[t.callbackUrl?n(k,{children:[n("code",{children:t.request?.method??"POST"})," \u2192 "]}):
"published \u2192 ",o.statusCode?n("strong",{children:["HTTP ",o.statusCode]}):o.error?"no answer":"accepted"]}),n("span",{class:"meter","aria-hidden":"true",children:n(
"span",{style:{width:`${Math.max(1,r(o)/a*100)}%`}})}),n("span",{class:"num",children:He(r(o))})]}),o.error&&n("p",{class:"timeline-error",children:o.error}),o.
nextAt&&n("p",{class:"muted",children:["Next attempt: ",n(I,{at:o.nextAt})]})]},o.generation+o.attempt+o.startedAt))})}function lc({of:e,action:t,close:r,after:a}){
let[s]=g(e),[o,i]=g(""),[c,u]=g("deliver"),[l,d]=g(""),f={namespace:s.namespace,id:s.id,ifGeneration:s.generation},h={close:r,after:a};switch(t){case"run":return n(
he,{...h,title:`Run ${s.id} now`,verb:"Run now",path:"timers/run-now",body:()=>f,done:`${s.id} runs now.`,children:n("p",{children:"The timer becomes due at onc\
e, as a new run of attempts."})});case"pause":return n(he,{...h,title:`Pause ${s.id}`,verb:"Pause",path:"timers/pause",body:()=>({...f,note:o||void 0}),done:`${s.
id} is paused.`,children:[n("p",{children:"A paused timer is not delivered until it is resumed."}),n(E,{label:"Note",value:o,set:i,hint:"Why it is paused; shown\
 to everyone who may read it."})]});case"resume":return n(he,{...h,title:`Resume ${s.id}`,verb:"Resume",path:"timers/resume",body:()=>({...f,overdue:c}),done:`${s.
id} is resumed.`,children:n(re,{label:"If its time has passed",value:c,set:u,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"retry":return n(
he,{...h,title:`Retry ${s.id}`,verb:"Retry",path:"timers/retry",body:()=>({...f,executeIn:l||void 0}),done:`${s.id} is scheduled again.`,children:[n("p",{children:[
"The timer starts again at attempt 1",s.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),n(E,{label:"Delay",value:l,
set:d,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return n(he,{...h,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"timers/d\
elete",body:()=>f,done:`${s.id} is deleted.`,after:()=>{pe(["timers"])},children:n("p",{children:"It is not delivered any more."})});default:return n(dc,{of:s,...h})}}
function dc({of:e,close:t,after:r}){let a={at:Ae(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?"":JSON.stringify(e.payload,null,2)},[s,o]=g(a.at),
[i,c]=g(a.url),[u,l]=g(a.payload),d=()=>{let f={};if(s!==a.at){let h=se(s);if(!h)return"Enter the time completely.";f.executeAt=h}if(i!==a.url&&(f.callbackUrl=i||
null),u!==a.payload){let{value:h,error:p}=ot(u);if(p)return p;f.payload=h??null}return Object.keys(f).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.
id,ifGeneration:e.generation,...f}};return n(he,{title:`Update ${e.id}`,verb:"Save",path:"timers/update",body:d,done:`${e.id} is updated.`,close:t,after:r,children:[
n(E,{label:`Time (${Ce()})`,type:"datetime-local",step:"1",value:s,set:o}),n(E,{label:"Callback URL",value:i,set:c,mono:!0}),de.hidePayloads?n("p",{class:"muted",
children:"Payloads are hidden by the settings of the server."}):n(ut,{label:"Payload (JSON)",value:u,set:l,rows:8}),n("p",{class:"hint",children:"Only changed f\
ields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var vr=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function pc(){let[e="overview",t,r]=ne.value.path,a=`${e}/${T.value}/${t??""}`;if(!xe.value&&(e==="overview"||e==="targe\
ts"||Tn.value))return n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return n(xa,{},a);case"\
timers":return t===void 0?n(Aa,{},a):n(Us,{id:t},a);case"dead":return n($a,{},a);case"schedules":return t===void 0?n(Na,{},a):r==="update"?n(Ka,{id:t},a):n(Da,{
id:t},a);case"namespaces":return t===void 0?n(Za,{}):n(Va,{name:t},t);case"targets":return n(Is,{},a);case"shards":return n(Ds,{},a);case"new":return t==="sched\
ule"?n(za,{},a):n(Fa,{},a+(r??""));default:return n(q,{title:"Not found",children:n(M,{title:"There is no such page.",children:n("a",{href:C(["overview"]),children:"\
Overview"})})})}}function fc({reason:e}){let[t,r]=g(""),[a,s]=g(),[o,i]=g(!1);G(()=>{document.title="Sign in \xB7 Timerbus";let l=d=>{d.persisted&&i(!1)};return addEventListener(
"pageshow",l),()=>{removeEventListener("pageshow",l)}},[]);let c=async()=>{Dt.value="",i(!0),s(void 0);try{await $s()}catch(l){s(new ge(0,"SIGN_IN_FAILED",l.message)),
i(!1)}},u=async()=>{let l=Oe.value;Dt.value="",i(!0),s(void 0),st(t.trim());try{await At()}catch(d){st(l),s(te(d))}i(!1)};return n("main",{class:"sign-in",children:n(
"form",{class:"card",onSubmit:l=>{l.preventDefault(),u()},children:[n("h1",{children:[n(br,{})," Timerbus"]}),Fe&&n(k,{children:[n("button",{type:"button",class:"\
button primary block",disabled:o,onClick:()=>{c()},children:["Sign in with ",Fe]}),Dt.value&&!a&&n("div",{class:"error",role:"alert",children:n("p",{children:Dt.
value})})]}),n("p",{children:[Fe?"Or use":"Sign in with"," the token of the service, the token of an API key, or a token of the identity provider."]}),a?n(fe,{error:a}):
Oe.value&&n("div",{class:"error",role:"alert",children:n("p",{children:e})}),n("div",{class:"field",children:[n("label",{for:"token",children:"Token"}),n("input",
{id:"token",type:"password",value:t,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:l=>{r(l.currentTarget.value)}}),n("p",{class:"hint",id:"\
token-hint",children:["It stays in this tab until the tab is closed. Create a key for reading with",n("code",{children:" timerbus key create ui --grant read@*"}),
"."]})]}),n("button",{type:"submit",class:`button block${Fe?"":" primary"}`,disabled:o,children:o?"Checking\u2026":"Sign in"})]})})}var br=()=>n("svg",{class:"m\
ark",viewBox:"0 0 32 32","aria-hidden":"true",children:[n("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),n("circle",{cx:"16",cy:"16",r:"9",class:"mar\
k-line"}),n("path",{d:"M16 10.5V16l4 2.6",class:"mark-line"})]});function hc({close:e}){return n(Ye,{title:"Keyboard",close:e,children:[n("dl",{class:"facts key\
s",children:[vr.map(([,t,r])=>n("div",{children:[n("dt",{children:[n("kbd",{children:"g"})," ",n("kbd",{children:r})]}),n("dd",{children:t})]},r)),n("div",{children:[
n("dt",{children:n("kbd",{children:"c"})}),n("dd",{children:"Create a timer"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"/"})}),n("dd",{children:"\
Search or filter"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"l"})}),n("dd",{children:"Live updates on or off"})]}),n("div",{children:[n("dt",{children:n(
"kbd",{children:"?"})}),n("dd",{children:"This list"})]})]}),n("label",{class:"check",children:[n("input",{type:"checkbox",checked:rn.value==="on",onChange:t=>{
rn.value=t.currentTarget.checked?"on":"off"}}),"Use these keys"]})]})}var _r=0;function mc(e){G(()=>{let t=r=>{let a=r.target;if(r.ctrlKey||r.metaKey||r.altKey||
a.closest("input, textarea, select, [contenteditable]")||document.querySelector("dialog[open]"))return;if(r.key==="?"){e();return}if(rn.value==="off")return;let s=Date.
now()-_r<1500;if(_r=0,s){let o=vr.find(([,,i])=>i===r.key);o&&pe([o[0]])}else if(r.key==="g")_r=Date.now();else if(r.key==="c")pe(["new","timer"]);else if(r.key===
"l")Te.value=Te.value==="on"?"off":"on";else if(r.key==="/"){let o=document.querySelector("[data-search]");o&&(r.preventDefault(),o.focus())}};return addEventListener(
"keydown",t),()=>{removeEventListener("keydown",t)}},[])}var gc={no:"Live updates by polling",some:"Live updates by events of one process, and by polling",all:"\
Live updates by events"};function yc(){let[e,t]=g(!1),[r,a]=g(!1);mc(()=>{a(!0)}),G(()=>{let u=new AbortController;return xe.value&&tn(u.signal).catch(()=>{}),()=>{
u.abort()}},[xe.value?.name]);let[s="overview"]=ne.value.path;G(()=>{t(!1)},[ne.value]);let o=[...new Set([T.value,...en.value.map(u=>u.name)])].sort(),i=u=>{ne.
value.path.length>1&&s!=="new"?pe([s],{ns:u}):ve({ns:u})};return n(k,{children:[n("button",{type:"button",class:"skip",onClick:()=>{document.querySelector("#mai\
n h1")?.focus()},children:"Skip to the content"}),n("header",{children:[n(x,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{
t(!e)},children:"\u2630"}),n("a",{class:"brand","aria-label":"Timerbus, overview",href:C(["overview"]),children:[n(br,{}),n("span",{children:"Timerbus"})]}),n("\
label",{class:"sr",for:"ns",children:"Namespace"}),n("select",{id:"ns",class:"namespace",value:T.value,onChange:u=>{i(u.currentTarget.value)},children:o.map(u=>n(
"option",{value:u,selected:u===T.value,children:u},u))}),n("div",{class:"spacer"}),de.readOnly&&n("span",{class:"badge paused",children:"read-only"}),n("div",{class:`\
prefs${e?" open":""}`,children:[n("label",{class:"sr",for:"zone",children:"Time zone"}),n("select",{id:"zone",value:ke.value,onChange:u=>{ke.value=u.currentTarget.
value},children:[n("option",{value:"local",selected:ke.value==="local",children:"Local time"}),n("option",{value:"utc",selected:ke.value==="utc",children:"UTC"}),
n("option",{value:"schedule",selected:ke.value==="schedule",children:["Schedule",Ne.value?` (${Ne.value})`:"\u2019s zone"]})]}),n(x,{kind:"ghost live","aria-pre\
ssed":Te.value==="on",title:gc[Ie.value],onClick:()=>{Te.value=Te.value==="on"?"off":"on"},children:[n("span",{class:"dot"}),"Live"]}),n("label",{class:"sr",for:"\
theme",children:"Colours"}),n("select",{id:"theme",value:je.value,onChange:u=>{je.value=u.currentTarget.value},children:[n("option",{value:"auto",selected:je.value===
"auto",children:"Auto"}),n("option",{value:"light",selected:je.value==="light",children:"Light"}),n("option",{value:"dark",selected:je.value==="dark",children:"\
Dark"})]})]})]}),n("div",{class:"frame",children:[n("nav",{id:"nav","aria-label":"Pages",class:e?"open":"",children:[n("ul",{children:vr.map(([u,l])=>n("li",{children:n(
"a",{href:C([u]),"aria-current":s===u?"page":void 0,children:l})},u))}),n("div",{class:"nav-foot",children:[n("div",{children:xe.value?.name==="anyone"?"no cred\
ential required":xe.value?.name}),Oe.value&&n(x,{kind:"small",onClick:()=>{st(""),xe.value=null,en.value=[],Be.value=""},children:"Sign out"}),n(x,{kind:"small",
onClick:()=>{a(!0)},children:"Keyboard"}),n("div",{class:"version",children:[de.version," \xB7 ",n("a",{href:"licenses.txt",children:"licences"})]})]})]}),n("ma\
in",{id:"main",children:n(pc,{})})]}),n("div",{class:"notices",role:"status","aria-live":"polite",children:ct.value.map(u=>n("div",{class:`notice ${u.kind}`,children:[
u.text,n(x,{kind:"icon","aria-label":"Dismiss",onClick:()=>{Kn(u.id)},children:"\u2715"})]},u.id))}),r&&n(hc,{close:()=>{a(!1)}})]})}var Dt=z(""),Tn=z(Os()),_c=Tn.
value?Ns().catch(e=>{Dt.value=e.message}).then(()=>(Tn.value=!1,At())):At();function vc(){let[e,t]=g(),r=(a=At())=>{t(void 0),a.catch(s=>{let o=te(s);o.status!==
401&&t(o)})};return Jt(()=>{r(_c)},[]),Be.value!==null?n(fc,{reason:Be.value}):e?n("main",{class:"sign-in",children:n("div",{class:"card",children:[n("h1",{children:[
n(br,{})," Timerbus"]}),n(fe,{error:e,again:()=>{r()}})]})}):n(yc,{})}var Bs=()=>{Nr(n(vc,{}),document.getElementById("app"))},[bc,wc]=ne.value.path;bc==="timer\
s"&&wc===void 0&&!Tn.value?na("timers/list",Ca(),Bs):Bs();
